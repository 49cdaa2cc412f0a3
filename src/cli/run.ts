import { CommanderError } from 'commander';
import { exitStatusOf, UsageShown } from './client/exit-status.ts';
import { buildProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs a command line. With `--json`, a failure is printed to standard output unless a result was.
 * @param args Arguments after `mp`.
 * @returns The exit status.
 */
export function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const work = async (shown: Terminal) => {
    const program = await buildProgram(args, shown);
    await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
      if (!(error instanceof CommanderError)) throw error;
      // Commander has already printed its message, or the help.
      if (error.exitCode !== 0) throw new UsageShown(error.message.replace(/^error: /, ''));
    });
  };
  return exitStatusOf(args, terminal, work, describe);
}

async function describe(error: unknown): Promise<string> {
  // Loaded on demand: the database driver takes longer to load than most commands take to run.
  const { describeFailure } = await import('./failure.ts');
  return describeFailure(error);
}
