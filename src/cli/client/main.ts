#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { WrongUsage } from './command.ts';
import { CLIENT_COMMANDS, type ClientCommandName } from './commands.ts';
import { didYouMean } from './did-you-mean.ts';
import { exitStatusOf } from './exit-status.ts';
import { helpOf, helpOfAll } from './help.ts';
import { ownKey } from './own-key.ts';
import { parseArguments } from './parse-arguments.ts';
import { processTerminal } from './process-terminal.ts';

/** `mp` of the client package: the commands that need only an API key. */

const args = process.argv.slice(2);
process.exitCode = await exitStatusOf(
  args,
  processTerminal(),
  async terminal => {
    const [first, ...rest] = args;
    if (first === '--version') return terminal.out(`${readVersion()}\n`);
    const isHelp = first === 'help' || first === '--help' || first === '-h';
    const [name, more] = isHelp ? [rest[0], ['--help']] : [first, rest];
    if (isHelp && name === undefined) return terminal.out(helpOfAll());
    if (name === undefined) {
      terminal.err(`${helpOfAll()}\n`);
      throw new WrongUsage('a command is missing');
    }
    if (!isCommand(name)) {
      const meant = didYouMean(name, Object.keys(CLIENT_COMMANDS));
      throw new WrongUsage(`unknown command '${name}'.${meant}`);
    }
    const { command } = await CLIENT_COMMANDS[name][1]();
    const parsed = parseArguments(more, command);
    if (parsed.isHelp) return terminal.out(helpOf(name, command));
    await command.run(ownKey(terminal), parsed.given);
  },
  error => (error instanceof Error && error.stack) || String(error),
);

function isCommand(name: string): name is ClientCommandName {
  return Object.hasOwn(CLIENT_COMMANDS, name);
}

/** Version of the package, which is also that of the service. */
function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
}
