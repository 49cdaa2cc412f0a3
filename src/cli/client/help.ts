import type { ClientCommand } from './command.ts';
import { CLIENT_COMMANDS, type ClientCommandName } from './commands.ts';

const HELP = ['-h, --help', 'display help'] as const;

/** The help of one command, in the form that Commander gives it. */
export function helpOf(name: ClientCommandName, command: ClientCommand): string {
  const { positionals, options, notes } = command;
  const usage = positionals.map(each => (each.isOptional ? `[${each.name}]` : `<${each.name}>`));
  return [
    `Usage: mp ${[name, '[options]', ...usage].join(' ')}`,
    '',
    CLIENT_COMMANDS[name][0],
    ...section(
      'Arguments:',
      positionals.map(each => [each.name, each.description]),
    ),
    ...section('Options:', [
      ...options.map(({ flags, description, choices }) => {
        const which = choices === undefined ? '' : ` (choices: ${choices.join(', ')})`;
        return [flags, description + which] as const;
      }),
      HELP,
    ]),
    ...(notes === undefined ? [] : ['', notes.trim()]),
    '',
  ].join('\n');
}

/** The help of the whole program. */
export function helpOfAll(): string {
  return [
    'Usage: npx --no mp COMMAND [options]',
    '',
    'Works with the External Payments Service by an API key.',
    ...section(
      'Commands:',
      Object.entries(CLIENT_COMMANDS).map(([name, [description]]) => [name, description]),
    ),
    ...section('Options:', [['--version', 'print the version of the client'], HELP]),
    '',
    '"npx --no mp help COMMAND" says how to use one.',
    'The key comes from MP_URL, MP_KEY_ID, MP_SECRET and MP_PASSPHRASE, or from "mp login".',
    'Exit status: 0 done, 1 refused or failed, 2 wrong usage. With --json, standard output is',
    'exactly one JSON document: the result, or {"error": {"exitStatus", "message"}}.',
    '',
  ].join('\n');
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([name]) => name.length));
  return ['', title, ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)];
}
