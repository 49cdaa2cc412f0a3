import { createHmac, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import {
  ensureCluster,
  type Lock,
  NAME,
  readLock,
  readPassword,
  SERVICE_NAME,
} from './postgres-cluster.ts';
import { findPostgres, isRunning } from './postgres-process.ts';

/** A database on a PostgreSQL server that this machine runs for the service. */
export interface EmbeddedDatabase {
  /** libpq-style URL of the database for its owner, e.g. postgres://eps:...@127.0.0.1:PORT/eps */
  readonly url: string;
  /** The same for the role that the service uses, which `admitService` creates. */
  readonly serviceUrl: string;
  /** Stops the server if this process started it; otherwise does nothing. Idempotent. */
  stop(): Promise<void>;
}

/** What openEmbeddedDatabase takes. */
export interface EmbeddedDatabaseOptions {
  /** Created when missing; the cluster lives in its subdirectory `postgres`. */
  readonly directory: string;
  /** Other processes attach to the server of a service, but wait until that of a command has ended. */
  readonly holder: 'service' | 'command';
  /** More server settings, e.g. `{ fsync: 'off' }` for tests. */
  readonly settings?: Record<string, string>;
  /** Receives the server's warnings and worse, a line at a time. */
  readonly log?: (line: string) => void;
}

// A command holds the database for a second or two; its slowest, a first migration, for ten.
const WAIT_MS = 30_000;
const POLL_MS = 50;

/**
 * Opens the database in a directory: starts the server, or attaches to the one a running service
 * has started. PostgreSQL's own lock on the data directory decides between processes. The server
 * ends with the process that started it, however that ends.
 *
 * @throws Error telling the operator what to do, when PostgreSQL is not installed, cannot run here,
 *   cannot start (with what it said), or stays in use by a command for 30 seconds.
 */
export async function openEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  const giveUpAt = Date.now() + WAIT_MS;
  try {
    // Started by root, the server runs as another user, who has to enter the directory but not list it.
    const mode = process.geteuid?.() === 0 ? 0o711 : 0o700;
    await mkdir(options.directory, { recursive: true, mode });
    const data = join(await realpath(options.directory), 'postgres');
    for (;;) {
      const opened = await attachOrStart(data, options);
      if (typeof opened !== 'string') return opened;
      if (Date.now() > giveUpAt) {
        throw new Error(`The embedded database in ${options.directory} is in use. ${opened}`);
      }
      await sleep(POLL_MS);
    }
  } catch (error) {
    throw explain(error, options.directory);
  }
}

/** @returns The database or, if a retry makes sense, a text that says what is in the way. */
async function attachOrStart(
  data: string,
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase | string> {
  const lock = await readLock(data);
  if (lock === undefined || !isRunning(lock.pid)) return start(data, options);
  if (!lock.ready) {
    return `Process ${lock.pid} is starting or ending PostgreSQL. If it is another program, remove ${data}/postmaster.pid.`;
  }
  const password = await readPassword(data);
  // Not the service's own database, which the first start has yet to create.
  const server = await query(
    urlOf(lock.port, password, 'postgres'),
    `select current_setting('data_directory') as data, current_setting('eps.holder', true) as holder,
       (select datname from pg_database where datname = '${NAME}') as database`,
  ).catch((error: NodeJS.ErrnoException) => (error.code === 'ECONNREFUSED' ? undefined : error));
  if (server instanceof Error) return server.message;
  // The lock is stale: another program has its process ID now, or the directory is a copy of one in use.
  if (server?.data !== data) return start(data, options, lock.pid);
  const [kind, pid] = server.holder?.split(':') ?? [];
  if (!isRunning(Number(pid))) {
    return `PostgreSQL (process ${lock.pid}) has outlived the process that started it. End it.`;
  }
  if (kind !== 'service') return `The command with process ID ${pid} is using it. End it.`;
  if (server.database === null) return `The service with process ID ${pid} is creating it.`;
  return { ...urlsOf(lock.port, password), stop: async () => {} };
}

// Worth a retry: another process is starting a server there at the same moment, sessions of a killed server
// are still ending, or the port is taken.
const TRY_AGAIN = /lock file|pre-existing shared memory block|could not create any TCP\/IP sockets/;
// Neither ERROR nor continuation lines: they quote statements and values.
const WORTH_LOGGING = /^(WARNING|FATAL|PANIC): /;

/**
 * @param stale process ID of a stale lock. PostgreSQL ignores a lock that has the ID of its grandparent,
 *   but still refuses to start while shared memory of another server exists.
 */
async function start(
  data: string,
  { settings = {}, holder, log }: EmbeddedDatabaseOptions,
  stale?: number,
): Promise<EmbeddedDatabase | string> {
  const postgres = await findPostgres(data);
  await ensureCluster(data, postgres, settings.fsync === 'off' ? ['--no-sync'] : []);
  const password = await readPassword(data);
  // Below the range that Linux uses for outgoing connections.
  const port = randomInt(20_000, 32_768);
  const all = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // A socket's path may be 107 bytes long; a checkout's may be longer.
    unix_socket_directories: '',
    timezone: 'UTC',
    log_line_prefix: '',
    'eps.holder': `${holder}:${process.pid}`,
    ...settings,
  };
  const said: string[] = [];
  let phase: 'starting' | 'running' | 'over' = 'starting';
  const server = postgres.start(
    'postgres',
    ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    line => {
      if (phase === 'starting') said.push(line);
      else if (phase === 'running' && WORTH_LOGGING.test(line)) log?.(line);
    },
    stale === undefined ? {} : { PG_GRANDPARENT_PID: String(stale) },
  );
  const ended = once(server, 'close').then(() => {
    if (phase === 'running') log?.('The embedded PostgreSQL ended by itself.');
    return true;
  });
  const stop = async () => {
    phase = 'over';
    server.kill('SIGINT');
    await ended;
  };
  for (let lock: Lock | undefined; !lock?.ready || lock.pid !== server.pid; ) {
    if (await Promise.race([ended, sleep(20, false)])) {
      const text = said.join('\n');
      if (TRY_AGAIN.test(text)) return text;
      throw new Error(`The embedded PostgreSQL could not start on ${data}.\n${text}`);
    }
    lock = await readLock(data);
  }
  phase = 'running';
  try {
    const maintenance = urlOf(port, password, 'postgres');
    const found = await query(maintenance, `select from pg_database where datname = '${NAME}'`);
    if (found === undefined) await query(maintenance, `create database ${NAME}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...urlsOf(port, password), stop };
}

function urlOf(port: number, password: string, database = NAME, role = NAME): string {
  return `postgres://${role}:${password}@127.0.0.1:${port}/${database}`;
}

/** The service's password is derived from the owner's, so that there is no second one to keep. */
function urlsOf(port: number, password: string): Pick<EmbeddedDatabase, 'url' | 'serviceUrl'> {
  const derived = createHmac('sha256', password).update(SERVICE_NAME).digest('base64url');
  return {
    url: urlOf(port, password),
    serviceUrl: urlOf(port, derived, NAME, SERVICE_NAME),
  };
}

type Row = Readonly<Record<string, string | null>>;

/** Runs one statement over a connection of its own; returns its first row. */
async function query(url: string, text: string): Promise<Row | undefined> {
  const client = new Client({
    connectionString: url,
    // PGSSLMODE is meant for another server.
    ssl: false,
    connectionTimeoutMillis: 10_000,
  });
  // The server may end the connection at any moment; then the query fails too.
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows[0];
  } finally {
    await client.end().catch(() => {});
  }
}

/** Adds what to do to errors about permissions. */
function explain(error: unknown, directory: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!(error instanceof Error && ['EACCES', 'EPERM', 'EROFS'].includes(code))) return error;
  return new Error(
    `The embedded database in ${directory} cannot be used by this user (${error.message}). Start the ` +
      'service as the user who made that directory, remove it to start over, or set DATABASE_URL.',
    { cause: error },
  );
}
