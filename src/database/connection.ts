import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;
/** A connection pool or an open transaction: what repositories take first. */
export type Connection = Database | Transaction<Tables>;

interface ConnectionOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Told about idle connections that break; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Longest a statement may run, in milliseconds; 0 for no limit, as migrations need it. */
  readonly statementTimeoutMs?: number;
}

/** How long a request waits for a connection, in milliseconds, before it is refused with E5002. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longest a request's statement may run, in milliseconds; the slowest takes far less. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** A transaction idle this long, in milliseconds, belongs to a replica that hangs: free its locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 15_000;
/**
 * How often PostgreSQL looks, while a statement runs or waits for a lock, whether this process is
 * still there, in milliseconds. Otherwise the locks of a killed replica last until its statement
 * ends.
 */
const CLIENT_CHECK_INTERVAL_MS = 1_000;

const INT8_OID = 20;
const DATE_OID = 1082;

/** Opens a pool; connections are made when they are first needed. */
export function connect(options: ConnectionOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    options: `-c client_connection_check_interval=${CLIENT_CHECK_INTERVAL_MS}`,
    keepAlive: true,
    types: { getTypeParser: getTypeParser as typeof pg.types.getTypeParser },
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
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

function getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
  if (oid === INT8_OID && format !== 'binary') return parseSafeInteger;
  // A calendar day stays YYYY-MM-DD: as a Date it would move with the machine's time zone.
  if (oid === DATE_OID && format !== 'binary') return (text: string) => text;
  return pg.types.getTypeParser(oid, format as 'text');
}

/** Counts and sums of cents stay below 2^53; one that does not must never be rounded in silence. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is not a safe integer`);
  return value;
}
