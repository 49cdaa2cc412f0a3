import { CommanderError } from 'commander';
import { buildProgram } from './program.ts';
import { CommandFailed, FailureShown, type Terminal } from './terminal.ts';

const DONE = 0;
/** Refused or failed. */
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs a command line. With `--json`, a failure is printed to standard output unless a result was.
 * @param args Arguments after `mp`.
 * @returns The exit status.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  let hasPrinted = false;
  const out = (text: string) => {
    hasPrinted = true;
    terminal.out(text);
  };
  const fail = (exitStatus: number, message: string) => {
    if (args.includes('--json') && !hasPrinted) {
      out(`${JSON.stringify({ error: { exitStatus, message } })}\n`);
    }
    return exitStatus;
  };
  try {
    const program = await buildProgram(args, { ...terminal, out });
    await program.parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    // Commander has already printed its message, or the help.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? DONE : fail(WRONG_USAGE, error.message.replace(/^error: /, ''));
    }
    if (error instanceof FailureShown) return FAILED;
    const message = await describe(error);
    terminal.err(`${message}\n`);
    return fail(FAILED, message);
  }
}

async function describe(error: unknown): Promise<string> {
  if (error instanceof CommandFailed) return error.message;
  // Loaded on demand: the database driver takes longer to load than most commands take to run.
  const { describeFailure } = await import('./failure.ts');
  return describeFailure(error);
}
