import { setTimeout as sleep } from 'node:timers/promises';
import { findPackage, repairPackage } from './embedded-postgres/binaries.ts';
import {
  ensureCluster,
  NAME,
  openPlaces,
  type Places,
  readPassword,
} from './embedded-postgres/cluster.ts';
import { ensureDatabase } from './embedded-postgres/first-connection.ts';
import { chooseAccount, chooseLauncher } from './embedded-postgres/launcher.ts';
import { startServer } from './embedded-postgres/postmaster.ts';
import {
  findRunningServer,
  type HolderKind,
  holderSetting,
  type RunningServer,
  stopOrphan,
} from './embedded-postgres/running-server.ts';

/** A database on a PostgreSQL server that this machine runs for the service. */
export interface EmbeddedDatabase {
  /** libpq-style URL of the database, e.g. postgres://eps:...@127.0.0.1:PORT/eps */
  readonly url: string;
  /** Stops the server if this process started it; otherwise does nothing. Idempotent. */
  stop(): Promise<void>;
}

/** What openEmbeddedDatabase takes. */
export interface EmbeddedDatabaseOptions {
  /** Made when missing; the cluster lives in its subdirectory `postgres`. */
  readonly directory: string;
  /** Who wants it: others attach to a service's server, and wait for a command's to end. */
  readonly holder: HolderKind;
  /** More server settings, e.g. `{ fsync: 'off' }` for tests. */
  readonly settings?: Record<string, string>;
  /** Gets the server's warnings and worse, a line at a time. */
  readonly log?: (line: string) => void;
  /** Ends the opening; a server already being started is stopped first. */
  readonly signal?: AbortSignal;
}

// A command holds the database for a second or two; its slowest, a first migration, for ten.
const WAIT_MS = 30_000;
const POLL_MS = 50;

/**
 * Opens the database in a directory: starts the server, or attaches to the one a running service
 * has started. PostgreSQL's own lock on the data directory decides between processes. On Linux
 * the server ends when the thread that called this ends, however that happens: call it from the
 * main thread.
 *
 * @throws Error telling the operator what to do, when PostgreSQL is not installed, cannot run here,
 *   cannot start (with the last lines of its log), or stays in use by a command for 30 seconds.
 * @throws the signal's reason when it is aborted.
 */
export async function openEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  try {
    return await open(options, await openPlaces(options.directory));
  } catch (error) {
    options.signal?.throwIfAborted();
    throw isRefusal(error) ? explainRefusal(options.directory, error) : error;
  }
}

async function open(options: EmbeddedDatabaseOptions, places: Places): Promise<EmbeddedDatabase> {
  const { signal } = options;
  const giveUpAt = Date.now() + WAIT_MS;
  for (;;) {
    signal?.throwIfAborted();
    const running = await findRunningServer(places.data);
    let obstacle: string;
    if (running === undefined) {
      const started = await start(options, places);
      if (typeof started !== 'string') return started;
      obstacle = `PostgreSQL finds it in use. End the servers left on it, if any; if there are none, remove ${places.data}/postmaster.pid.\n${started}`;
    } else if (!running.holder.alive) {
      await stopOrphan(places.data, running);
      obstacle = `a left-over server (process ${running.pid}) does not end. End it.`;
    } else {
      const attached = mayAttach(running) && (await attach(running, places));
      if (attached) return attached;
      obstacle = `the ${running.holder.kind} with process ID ${running.holder.pid} is using it. End it.`;
    }
    if (Date.now() > giveUpAt) {
      throw new Error(`The embedded database in ${places.directory} cannot be opened: ${obstacle}`);
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

// A process that waited for itself would wait for ever.
function mayAttach({ ready, holder }: RunningServer): boolean {
  return ready && (holder.kind === 'service' || holder.pid === process.pid);
}

/** Undefined when the server has just ended or is ending. */
async function attach(
  { port }: RunningServer,
  places: Places,
): Promise<EmbeddedDatabase | undefined> {
  const url = urlOf(port, await readPassword(places));
  if (!(await ensureDatabase(url))) return undefined;
  return { url, stop: async () => {} };
}

async function start(
  options: EmbeddedDatabaseOptions,
  places: Places,
): Promise<EmbeddedDatabase | string> {
  const { settings = {}, log, signal } = options;
  const binaries = await repairPackage(findPackage());
  const account = await chooseAccount(places.data);
  const launcher = await chooseLauncher(account, binaries, places.directory);
  await ensureCluster(places, binaries, launcher, { durable: settings.fsync !== 'off', signal });
  const password = await readPassword(places);
  const server = await startServer({
    launcher,
    postgres: binaries.postgres,
    data: places.data,
    holder: await holderSetting(options.holder),
    settings,
    log,
    signal,
  });
  if (typeof server === 'string') return server;
  const url = urlOf(server.port, password);
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= server.stop();
    return stopping;
  };
  try {
    const connected = await ensureDatabase(url);
    signal?.throwIfAborted();
    if (connected) return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
  await stop();
  return 'the server ended while it was being connected to';
}

function urlOf(port: number, password: string): string {
  return `postgres://${NAME}:${password}@127.0.0.1:${port}/${NAME}`;
}

function isRefusal(error: unknown): error is Error {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    ['EACCES', 'EPERM', 'EROFS'].includes(error.code)
  );
}

function explainRefusal(directory: string, cause: Error): Error {
  return new Error(
    `The embedded database in ${directory} cannot be used by this user (${cause.message}). Start the ` +
      'service as the user who made that directory, remove it to begin anew, or set DATABASE_URL.',
    { cause },
  );
}
