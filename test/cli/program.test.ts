import { expect, test } from 'vitest';
import { buildProgram } from '#cli/program.ts';

const TERMINAL = { env: {}, out: () => undefined, err: () => undefined };

/** Nouns whose verbs or flags are defined, which requires loading their files. */
async function loadedFor(...args: string[]): Promise<string[]> {
  const program = await buildProgram(args, TERMINAL);
  return program.commands
    .filter(({ commands, options }) => commands.length + options.length > 0)
    .map(command => command.name());
}

test.each([
  [['merchant', 'create', '--name', 'webhook', '--email', 'key'], ['merchant']],
  [['audit', '--actor', 'payment'], ['audit']],
  [['help', 'branch'], ['branch']],
  [['--help', 'branch'], ['branch']],
  [['--help'], []],
  [['unknown', 'audit'], []],
])('mp %j loads only %j', async (args, nouns) => {
  expect(await loadedFor(...args)).toEqual(nouns);
});
