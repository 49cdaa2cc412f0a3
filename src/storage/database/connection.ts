import { Kysely, PostgresDialect, type PostgresPoolClient, type Transaction } from 'kysely';
import pg from 'pg';
import { ServerClient } from './encryption.ts';
import { primaryOf } from './primary.ts';
import { type SessionOptions, sessionConfig } from './session.ts';
import { cutSoon, sessionClient } from './session-client.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
/** A connection pool or an open transaction: the first parameter of every repository function. */
export type Connection = Database | Transaction<Tables>;

export interface ConnectionOptions extends SessionOptions {
  readonly poolSize: number;
  /** Whether the server may be a standby, as for reports. */
  readonly mayBeStandby?: boolean;
  /** Called when an idle connection breaks; the pool replaces it. */
  readonly onIdleError: (error: Error) => void;
}

/**
 * Longest a connection is used, in seconds, so that after a change of DNS or a failover all connections
 * lead to the new server in time.
 */
const LIFETIME_SECONDS = 30 * 60;

const pools = new WeakMap<Database, pg.Pool>();

/** Opens a pool. Connections are made when they are needed, and are kept for half an hour. */
export function connect(options: ConnectionOptions): Database {
  const open = new Set<pg.Client>();
  const primary = primaryOf(options.url);
  // Which server a pooler leads to is the pooler's business.
  const isAdmitted = options.mayBeStandby !== true && options.pooler !== true;
  /** Tracked from the start, so that a pool that closes can cut a connection that is still being opened. */
  class KnownClient extends ServerClient {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: primary.url });
      open.add(this);
      this.once('end', () => open.delete(this));
    }
  }
  const pool = new pg.Pool({
    ...sessionConfig(options),
    Client: KnownClient,
    max: options.poolSize,
    onConnect: client => (isAdmitted ? primary.admit(client) : undefined),
    // Idle connections stay open: opening one costs the server a process that plans every statement
    // again, 10 ms or more that requests wait for, above all in a burst of load.
    idleTimeoutMillis: 0,
    maxLifetimeSeconds: LIFETIME_SECONDS,
  });
  pool.on('error', error => {
    // pg attaches the client, with the key that cancels its queries, which must not reach a log.
    delete (error as { client?: unknown }).client;
    // Connections that break while the pool closes are of no interest.
    if (!pool.ending) options.onIdleError(error);
  });
  // A connection that breaks in use fails its query; its 'error' event, unhandled, would end the process.
  pool.on('connect', client => client.on('error', () => undefined));

  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: {
        options: pool.options,
        end() {
          cutSoon(open);
          return pool.end();
        },
        async connect() {
          let client = await primary.reach(() => pool.connect());
          while (isAdmitted && !primary.isCurrent(client)) {
            client.release(true);
            client = await primary.reach(() => pool.connect());
          }
          let session = clients.get(client);
          if (session === undefined) {
            session = sessionClient(client, {
              session: options,
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

/** The state of a pool. */
interface PoolUse {
  /** Maximum number of connections it may open. */
  readonly limit: number;
  /** Connections in use. */
  readonly busy: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

/** The state of a pool that `connect` opened; undefined for any other database. */
export function poolUse(db: Database): PoolUse | undefined {
  const pool = pools.get(db);
  if (pool === undefined) return undefined;
  const { totalCount, idleCount: idle, waitingCount: waiting } = pool;
  return { limit: pool.options.max, busy: totalCount - idle, idle, waiting };
}
