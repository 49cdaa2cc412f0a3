import { Kysely, PostgresDialect, type PostgresPoolClient, type Transaction } from 'kysely';
import pg from 'pg';
import { type SessionOptions, sessionConfig } from './session.ts';
import { sessionClient } from './session-client.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
/** A connection pool or an open transaction: what repositories take first. */
export type Connection = Database | Transaction<Tables>;

export interface ConnectionOptions extends SessionOptions {
  readonly poolSize: number;
  /** Told about idle connections that break; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void;
}

/**
 * How long a connection lasts, in seconds: whoever gives the database's name another address, or
 * another server's place to this one, need not end the connections that lead to the old one.
 */
const LIFETIME_SECONDS = 30 * 60;

const pools = new WeakMap<Database, pg.Pool>();

/** Opens a pool; connections are made when they are first needed, and stay for half an hour. */
export function connect(options: ConnectionOptions): Database {
  const pool = new pg.Pool({
    ...sessionConfig(options),
    max: options.poolSize,
    // The next burst would open again what closes after a while without work, and a server that is
    // slow for a moment is just when a burst comes: each connection costs it a process that plans all
    // statements anew, 10 ms and more for which requests wait.
    idleTimeoutMillis: 0,
    maxLifetimeSeconds: LIFETIME_SECONDS,
  });
  pool.on('error', error => {
    // The pool hangs the whole client on the error, with the key that cancels its queries: not for logs.
    delete (error as { client?: unknown }).client;
    // A server that stops right after the pool ends connections that nobody uses any more.
    if (!pool.ending) options.onIdleError(error);
  });
  // A connection that breaks while in use fails its query; the error it emits besides would end the
  // process if nobody listened.
  pool.on('connect', client => client.on('error', () => undefined));

  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: {
        options: pool.options,
        end: () => pool.end(),
        async connect() {
          const client = await pool.connect();
          let session = clients.get(client);
          if (session === undefined) {
            session = sessionClient(client, {
              prepares: options.pooler !== true,
              statementTimeoutMs: options.statementTimeoutMs,
              release: destroy => client.release(destroy),
            });
            clients.set(client, session);
          }
          return session;
        },
      },
    }),
  });
  pools.set(db, pool);
  return db;
}

/** How a pool stands. */
export interface PoolUse {
  /** Connections it may have. */
  readonly limit: number;
  /** Connections that work for somebody. */
  readonly busy: number;
  readonly idle: number;
  /** Who waits for a connection. */
  readonly waiting: number;
}

/** How the pool that `connect` opened stands; undefined for anything else. */
export function poolUse(db: Database): PoolUse | undefined {
  const pool = pools.get(db);
  if (pool === undefined) return undefined;
  const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
  return { limit: pool.options.max, busy: totalCount - idle, idle, waiting };
}
