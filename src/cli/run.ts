import { CommanderError } from 'commander';
import { looksPrivate } from '#chains/private-key.ts';
import { exitStatusOf, UsageShown } from './client/exit-status.ts';
import { buildProgram } from './program.ts';
import { CommandFailed, type Terminal } from './terminal.ts';

const PRIVATE_GIVEN =
  'An argument is a private key, or the words of a wallet, which this service must never have. Nothing was done with it, but your shell may have kept it, and others on this machine may have seen it: move the money to a new wallet.';

/**
 * Runs a command line. With `--json`, a failure is printed to standard output unless a result was.
 * @param args Arguments after `mp`.
 * @returns The exit status.
 */
export function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const work = async (shown: Terminal) => {
    // Before anything could print, store or log it.
    if ([...args, ...betweenFlags(args)].some(looksPrivate)) throw new CommandFailed(PRIVATE_GIVEN);
    const program = await buildProgram(args, shown);
    await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
      if (!(error instanceof CommanderError)) throw error;
      // Commander has already printed its message, or the help.
      if (error.exitCode !== 0) throw new UsageShown(error.message.replace(/^error: /, ''));
    });
  };
  return exitStatusOf(args, terminal, work, describe);
}

/** What stands between flags: the words of a wallet without quotes are an argument each. */
function betweenFlags(args: readonly string[]): string[] {
  const marked = args.map(arg => (arg.startsWith('-') ? '\n' : arg));
  return marked.join(' ').split('\n');
}

async function describe(error: unknown): Promise<string> {
  // Loaded on demand: the database driver takes longer to load than most commands take to run.
  const { describeFailure } = await import('./failure.ts');
  return describeFailure(error);
}
