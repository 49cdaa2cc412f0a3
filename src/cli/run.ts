import { CommanderError } from 'commander';
import { buildProgram } from './program.ts';
import { AnsweredFailure, CommandFailed, type Terminal } from './terminal.ts';

/** Exit statuses: done, refused or failed, and wrong usage. */
const DONE = 0;
const FAILED = 1;
const USAGE = 2;

/**
 * Runs one command line.
 * @param args What follows `mp`.
 * @returns The exit status.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = await buildProgram(args, terminal);
    await program.parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    // Commander has printed its own message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE;
    if (error instanceof AnsweredFailure) return FAILED;
    terminal.err(`${await describe(error)}\n`);
    return FAILED;
  }
}

async function describe(error: unknown): Promise<string> {
  if (error instanceof CommandFailed) return error.message;
  // Loaded late: the database driver takes longer to load than most commands take to run.
  const { describeFailure } = await import('./failure.ts');
  return describeFailure(error);
}
