import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, isTaken, sendSignal, startMarkOf } from './process-table.ts';

/** Who wants the database: the service for as long as it runs, a command for a moment. */
export type HolderKind = 'service' | 'command';

/** The process that started a server. */
export interface Holder {
  readonly kind: HolderKind;
  readonly pid: number;
  readonly alive: boolean;
}

/** A server that runs on a data directory, as its lock file and its command line tell. */
export interface RunningServer {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
  readonly holder: Holder;
}

/**
 * The server setting that names its starter. On the command line it comes into being with the
 * server itself, so it is never missing, stale or another server's, as a file could be.
 */
export async function holderSetting(kind: HolderKind): Promise<string> {
  return `eps.holder=${kind}:${process.pid}:${await startMarkOf(process.pid)}`;
}

/**
 * The server now running on a data directory, if any.
 *
 * @throws Error when it was started by hand.
 */
export async function findRunningServer(data: string): Promise<RunningServer | undefined> {
  const lock = await readLock(data);
  const args = lock && (await commandLineOf(lock.pid));
  // Otherwise the lock is stale, and another program may have got the process ID since.
  if (lock === undefined || !args?.includes(`-D ${data} `)) return undefined;
  const [, kind, pid, mark] = /eps\.holder=(service|command):(\d+):(\S+)/.exec(args) ?? [];
  if (kind === undefined || mark === undefined) {
    throw new Error(
      `PostgreSQL (process ${lock.pid}) runs on ${data} but was started by hand. Stop it and start again.`,
    );
  }
  return {
    ...lock,
    holder: {
      kind: kind === 'service' ? 'service' : 'command',
      pid: Number(pid),
      alive: (await startMarkOf(Number(pid))) === mark,
    },
  };
}

/** Whether the server with this process ID accepts connections on its data directory. */
export async function isReady(data: string, pid: number): Promise<boolean> {
  const lock = await readLock(data);
  return lock !== undefined && lock.pid === pid && lock.ready;
}

/**
 * The process ID in a lock file that another program has got since, if so. PostgreSQL takes such a
 * lock for a live server's, unless told of it.
 */
export async function findReusedLock(data: string): Promise<number | undefined> {
  const lock = await readLock(data);
  if (lock === undefined || !isTaken(lock.pid)) return undefined;
  return (await findRunningServer(data)) === undefined ? lock.pid : undefined;
}

/** Stops a server whose starter is dead; returns when it has ended, or after 15 seconds. */
export async function stopOrphan(data: string, orphan: RunningServer): Promise<void> {
  // Fast shutdown, immediate shutdown, and nothing gentler left; five seconds for each.
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    const end = Date.now() + 5_000;
    for (let sent = false; Date.now() < end; sent = true) {
      if ((await findRunningServer(data))?.pid !== orphan.pid) return;
      if (!sent) sendSignal(orphan.pid, signal);
      await sleep(20);
    }
  }
}

// The lines of postmaster.pid, from 0, as in PostgreSQL's src/include/utils/pidfile.h.
const PID = 0;
const PORT = 3;
const STATUS = 7;

async function readLock(data: string): Promise<Omit<RunningServer, 'holder'> | undefined> {
  let text: string;
  try {
    text = await readFile(join(data, 'postmaster.pid'), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const lines = text.split('\n');
  const pid = Number(lines[PID]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[PORT]), ready: lines[STATUS]?.trim() === 'ready' };
}
