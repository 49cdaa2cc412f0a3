import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import type { Binaries } from './binaries.ts';

/** The user PostgreSQL runs as, by number. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** A way to run PostgreSQL's programs that is known to work here. */
export interface Launcher {
  /** Set when the programs run as another user than this process, who must then own the files. */
  readonly account: Account | undefined;
  /** Runs a program in a session of its own, so that Ctrl-C in the terminal does not reach it. */
  spawn(program: string, args: readonly string[], environment?: NodeJS.ProcessEnv): ChildProcess;
}

/** How a program run to its end has ended. */
export interface Outcome {
  readonly succeeded: boolean;
  /** All it wrote, trimmed; or why it could not be run. */
  readonly output: string;
}

/**
 * The user to run as: undefined for this process's own, else the owner of the cluster, else
 * `postgres` or `nobody`. PostgreSQL refuses to run as root.
 */
export async function chooseAccount(dataDirectory: string): Promise<Account | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const owner = await stat(dataDirectory).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'));
  const user = ['postgres', 'nobody'].map(name => users.find(([it]) => it === name)).find(Boolean);
  if (user === undefined) {
    throw new Error(
      'PostgreSQL refuses to run as root, and this machine has neither a user "postgres" nor ' +
        '"nobody". Start the service as an ordinary user, or set DATABASE_URL.',
    );
  }
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/**
 * Tries the ways to run PostgreSQL, the least privileged first, and returns the first that reaches
 * both the programs and the directory.
 *
 * @throws Error saying what to do when none works.
 */
export async function chooseLauncher(
  account: Account | undefined,
  binaries: Binaries,
  directory: string,
): Promise<Launcher> {
  const complaints = new Set<string>();
  for (const launcher of account === undefined ? ownWays() : waysFromRoot(account)) {
    const { succeeded, output } = await tryOut(launcher, binaries, directory);
    if (succeeded) return launcher;
    complaints.add(output);
  }
  throw new Error(
    account === undefined
      ? `The embedded PostgreSQL does not run on this machine. Set DATABASE_URL.\n${[...complaints].join('\n')}`
      : `PostgreSQL refuses to run as root, and running it as the user with ID ${account.uid} failed. ` +
          `Start the service as an ordinary user, or set DATABASE_URL.\n${[...complaints].join('\n')}`,
  );
}

async function tryOut(launcher: Launcher, binaries: Binaries, directory: string): Promise<Outcome> {
  const trial = '[ -e "$1/." ] || { echo "cannot enter $1" >&2; exit 1; }; exec "$2" --version';
  const args = ['-c', trial, 'sh', directory, binaries.postgres];
  try {
    return await outcomeOf(launcher.spawn('/bin/sh', args));
  } catch (error) {
    // Node throws at once when the kernel refuses the account.
    return { succeeded: false, output: String(error) };
  }
}

/** Waits for a program to end and collects what it writes. */
export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  return new Promise(resolve => {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', error => resolve({ succeeded: false, output: error.message }));
    child.once('close', code => resolve({ succeeded: code === 0, output: output.trim() }));
  });
}

// PostgreSQL's fast shutdown when the process that started it dies, even by kill -9.
const END_WITH_PARENT = ['--pdeathsig', 'INT'];

function ownWays(): Launcher[] {
  return [launcherThrough(undefined, END_WITH_PARENT), launcherThrough(undefined, undefined)];
}

function waysFromRoot(account: Account): Launcher[] {
  const become = [...END_WITH_PARENT, `--reuid=${account.uid}`, `--regid=${account.gid}`];
  // A folder that only root may enter, such as /root, can lie above the checkout: one capability
  // to pass it. DAC_READ_SEARCH lets no file be written; Docker's default set lacks it and has
  // DAC_OVERRIDE. PostgreSQL tests its own files with access(2), which honours capabilities of
  // other users than root only under no_setuid_fixup.
  const passing = (capability: string) => [
    ...['--securebits', '+no_setuid_fixup'],
    ...[`--inh-caps=+${capability}`, `--ambient-caps=+${capability}`],
  ];
  return [
    launcherThrough(account, [...become, '--clear-groups']),
    launcherThrough(account, [...become, '--clear-groups', ...passing('dac_read_search')]),
    launcherThrough(account, [...become, '--clear-groups', ...passing('dac_override')]),
    launcherThrough(account, undefined),
  ];
}

/** @param setpriv arguments for setpriv(1), which Debian always has; undefined to do without it */
function launcherThrough(
  account: Account | undefined,
  setpriv: readonly string[] | undefined,
): Launcher {
  return {
    account,
    spawn(program, args, environment) {
      const line = [...(setpriv ? ['setpriv', ...setpriv, '--'] : []), program, ...args];
      return spawn(line[0] ?? program, line.slice(1), {
        ...(setpriv === undefined && account),
        detached: true,
        // Not the caller's: that folder may be gone, or closed to the account.
        cwd: '/',
        // PG* variables would configure the server; LC_ALL keeps its messages in English.
        env: { PATH: process.env.PATH, LC_ALL: 'C', ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    },
  };
}
