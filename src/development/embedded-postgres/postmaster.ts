import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Launcher } from './launcher.ts';
import { findReusedLock, isReady } from './running-server.ts';

/** A server this process has started and that accepts connections. */
export interface OwnServer {
  readonly port: number;
  /** Ends it; returns when it has ended. */
  stop(): Promise<void>;
}

/** What to start, and how. */
export interface StartOptions {
  readonly launcher: Launcher;
  readonly postgres: string;
  readonly data: string;
  /** From holderSetting(). */
  readonly holder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: ((line: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Starts the server on a free port and waits until it accepts connections.
 *
 * @returns the server; or, as text, what PostgreSQL said when it found its port or its data
 *   directory in use, so that trying again makes sense.
 * @throws Error with the last lines of the server's log on any other failure.
 */
export async function startServer(options: StartOptions): Promise<OwnServer | string> {
  const { launcher, data, signal } = options;
  const port = await findFreePort();
  const reused = await findReusedLock(data);
  const child = launcher.spawn(
    options.postgres,
    ['-D', data, ...settingArguments(port, options)],
    // As pg_ctl does it: a lock file with this process ID is stale.
    reused === undefined ? {} : { PG_GRANDPARENT_PID: String(reused) },
  );
  const ended = new Promise<void>(resolve => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  const serverLog = followLog(child, options.log);
  const running = await waitUntilReady(child, ended, data, signal);
  if (!running) {
    const said = serverLog.tail();
    if (TRY_AGAIN.test(said)) return said;
    throw new Error(`The embedded PostgreSQL could not start on ${data}.\n${said}`);
  }
  serverLog.running();
  void ended.then(serverLog.ended);
  letGo(child);
  return {
    port,
    stop: () => {
      serverLog.stopping();
      return stop(child, ended);
    },
  };
}

// Empty: another server is between creating its lock file and writing it.
const TRY_AGAIN =
  /lock file "postmaster.pid" (already exists|is empty)|pre-existing shared memory block|Address already in use/;

function settingArguments(port: number, { holder, settings }: StartOptions): string[] {
  const all = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // A socket's path may be 107 bytes long; a checkout's may be longer.
    unix_socket_directories: '',
    timezone: 'UTC',
    ...settings,
  };
  const pairs = [holder, ...Object.entries(all).map(([name, value]) => `${name}=${value}`)];
  return pairs.flatMap(pair => ['-c', pair]);
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port found.');
  return address.port;
}

// Recovering after a crash replays at most max_wal_size (1 GB) of log.
const START_MS = 60_000;

async function waitUntilReady(
  child: ChildProcess,
  ended: Promise<void>,
  data: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const giveUpAt = Date.now() + START_MS;
  while (!over) {
    if (child.pid !== undefined && (await isReady(data, child.pid))) return true;
    if (signal?.aborted || Date.now() > giveUpAt) await stop(child, ended);
    signal?.throwIfAborted();
    await Promise.race([ended, sleep(20)]);
  }
  return false;
}

// Enough for a FATAL with its hints and the crash recovery before it.
const LINES_KEPT = 50;

/** Keeps the last lines of the server's log; passes on warnings and worse between two moments. */
function followLog(child: ChildProcess, log: ((line: string) => void) | undefined) {
  const lines: string[] = [];
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  const take = (line: string) => {
    // Not ERROR and its DETAIL: the statement's client is told, and they quote values.
    if (phase !== 'starting' && !/\b(LOG|WARNING|FATAL|PANIC): {2}/.test(line)) return;
    if (lines.push(line) > LINES_KEPT) lines.shift();
    if (phase === 'running' && !/\bLOG: {2}/.test(line)) log?.(line);
  };
  if (child.stderr) createInterface({ input: child.stderr }).on('line', take);
  child.once('error', error => take(error.message));
  return {
    tail: () => lines.join('\n'),
    running: () => {
      phase = 'running';
    },
    stopping: () => {
      phase = 'stopping';
    },
    ended: () => {
      if (phase === 'running')
        log?.(`The embedded PostgreSQL ended by itself.\n${lines.join('\n')}`);
    },
  };
}

/** Lets this process end without waiting for the server, which ends with it. */
function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream.unref();
  }
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.ref();
  child.kill('SIGINT');
  // A fast shutdown ends its sessions at once; one that has not by now will not.
  const impatience = setTimeout(() => child.kill('SIGQUIT'), 5_000);
  await ended;
  clearTimeout(impatience);
}
