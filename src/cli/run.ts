import { CommanderError } from 'commander';
import { buildProgram } from './program.ts';
import { AnsweredFailure, CommandFailed, type Terminal } from './terminal.ts';

const DONE = 0;
/** Refused or failed. */
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs a command line.
 * @param args Arguments after `mp`.
 * @returns The exit status.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = await buildProgram(args, terminal);
    await program.parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    // Commander has already printed its message, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    if (error instanceof AnsweredFailure) return FAILED;
    terminal.err(`${await describe(error)}\n`);
    return FAILED;
  }
}

async function describe(error: unknown): Promise<string> {
  if (error instanceof CommandFailed) return error.message;
  // Loaded on demand: the database driver takes longer to load than most commands take to run.
  const { describeFailure } = await import('./failure.ts');
  return describeFailure(error);
}
