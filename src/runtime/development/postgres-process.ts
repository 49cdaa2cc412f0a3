import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { findPackage, repairPackage } from './postgres-package.ts';

/** The user PostgreSQL runs as, by number. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL's programs and the user to run them as. */
export interface Postgres {
  /** Set when they run as another user than this process; that user must own the data directory. */
  readonly account: Account | undefined;
  /**
   * Starts a program that gets SIGINT when this process ends.
   * @param environment all it gets besides PATH
   */
  start(
    program: 'initdb' | 'postgres',
    args: readonly string[],
    onLine: (line: string) => void,
    environment?: NodeJS.ProcessEnv,
  ): ChildProcess;
}

/**
 * The user for a server on a data directory: undefined for this process's own. PostgreSQL refuses
 * to run as root. Root runs it as the owner of the directory, or as `nobody` when that is root.
 */
export async function chooseAccount(data: string): Promise<Account | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const owner = await stat(data).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  // On macOS, nobody has a negative ID; _postgres exists there.
  const found = /^(?:nobody|_postgres):[^:]*:(\d+):(\d+):/m.exec(
    await readFile('/etc/passwd', 'utf8'),
  );
  return { uid: Number(found?.[1] ?? 65_534), gid: Number(found?.[2] ?? 65_534) };
}

/** Command prefix that lets a command enter folders which its account may not enter; empty where it can. */
async function findPassage(
  account: Account | undefined,
  folders: readonly string[],
): Promise<string[]> {
  if (account === undefined) return [];
  const entered = await Promise.all(folders.map(folder => mayEnter(account, folder)));
  if (entered.every(Boolean)) return [];
  // The checkout is in a folder that only root may enter, such as /root. Docker's default set has
  // CAP_DAC_OVERRIDE but not the narrower CAP_DAC_READ_SEARCH. PostgreSQL checks its files with
  // access(2), which ignores the capabilities of an ordinary user without no_setuid_fixup.
  return [
    ...['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'],
    ...['--securebits', '+no_setuid_fixup'],
    ...['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--'],
  ];
}

async function mayEnter(account: Account, folder: string): Promise<boolean> {
  const { mode, uid, gid } = await stat(folder);
  const bit = account.uid === uid ? 0o100 : account.gid === gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  return folder === '/' || mayEnter(account, dirname(folder));
}

// A background reader waits on descriptor 3, a pipe from this process. The kernel closes the pipe when
// this process ends, even by kill -9, and the reader interrupts the program. A line on the pipe means
// that the program has ended first. The outer subshell ends at once, so that the reader is not a child
// of PostgreSQL, which does not expect children it has not started.
const END_WITH_PARENT = '( (read -r line <&3 || kill -INT $$) >/dev/null 2>&1 & ); exec "$@" 3<&-';

/**
 * Finds PostgreSQL's programs and the user to run them as.
 * @param data the data directory, which may not exist yet
 * @throws Error saying what to do when PostgreSQL is not installed or is incomplete.
 */
export async function findPostgres(data: string): Promise<Postgres> {
  const folder = findPackage();
  await repairPackage(folder);
  const account = await chooseAccount(data);
  const passage = await findPassage(account, [folder, dirname(data)]);
  const start: Postgres['start'] = (program, args, onLine, environment) => {
    const shell = ['/bin/sh', '-c', END_WITH_PARENT, 'sh', join(folder, 'bin', program), ...args];
    const [command = '', ...rest] = [...passage, ...shell];
    const child = spawn(command, rest, {
      ...(passage.length === 0 && account),
      // A session of its own: Ctrl-C in the terminal does not reach it.
      detached: true,
      // The caller's may be gone, or closed to the account.
      cwd: '/',
      // PG* variables would configure the server; LC_ALL keeps its messages in English.
      env: { PATH: process.env.PATH, LC_ALL: 'C', ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    for (const output of [child.stdout, child.stderr]) {
      if (output) createInterface({ input: output }).on('line', onLine);
    }
    const tie = child.stdio[3];
    if (tie instanceof Socket) {
      tie.on('error', () => {}).resume();
      child.once('exit', () => tie.end('\n'));
    }
    return child;
  };
  return { account, start };
}

/** Whether a process has this ID. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process is another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
