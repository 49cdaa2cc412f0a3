import { CommandFailed, FailureShown, type Terminal } from '../terminal.ts';
import { WrongUsage } from './command.ts';

const DONE = 0;
/** Refused or failed. */
const FAILED = 1;
const WRONG_USAGE = 2;

/** The command line is wrong, and its message has been printed. */
export class UsageShown extends WrongUsage {}

/**
 * Runs a command line. With `--json`, a failure is printed to standard output unless a result was.
 * @param args Arguments after `mp`.
 * @param describe Describes an error that no command expects.
 * @returns The exit status.
 */
export async function exitStatusOf(
  args: readonly string[],
  terminal: Terminal,
  work: (terminal: Terminal) => Promise<void>,
  describe: (error: unknown) => string | Promise<string>,
): Promise<number> {
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
    await work({ ...terminal, out });
    return DONE;
  } catch (error) {
    if (error instanceof FailureShown) return FAILED;
    if (error instanceof WrongUsage) {
      if (!(error instanceof UsageShown)) {
        terminal.err(
          `error: ${error.message}\n"npx --no mp help" lists the commands, "npx --no mp help COMMAND" says how to use one.\n`,
        );
      }
      return fail(WRONG_USAGE, error.message);
    }
    const message = error instanceof CommandFailed ? error.message : await describe(error);
    terminal.err(`${message}\n`);
    return fail(FAILED, message);
  }
}
