import type pg from 'pg';
import { columnTypes } from './column-values.ts';

export interface SessionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Longest a statement may run, in milliseconds; 0 for no limit, as migrations need it. */
  readonly statementTimeoutMs?: number;
  /**
   * Whether `url` is a pooler that gives each transaction another session (PgBouncer): it takes
   * neither settings of a session nor statements prepared in one.
   */
  readonly pooler?: boolean;
  /**
   * Whether what is prepared is planned once, whatever its values: for statements that read by an
   * index whatever they are. PostgreSQL would plan a page of a long history anew each time, for it
   * takes a limit that it does not know for a tenth of all rows.
   */
  readonly plansOnce?: boolean;
}

/**
 * How long a connection may be silent before the kernel asks whether the server is still there, in
 * milliseconds: gateways forget connections that nobody uses, and Linux on its own asks after two
 * hours.
 */
export const KEEP_ALIVE_DELAY_MS = 30_000;
/** How long a request waits for a connection, in milliseconds, before it is refused with E5002. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longest a request's statement may run, in milliseconds; the slowest takes far less. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** A transaction idle this long, in milliseconds, belongs to a replica that hangs: free its locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 15_000;
/**
 * How often PostgreSQL looks, while a statement runs or waits for a lock, whether this process is
 * still there, in milliseconds. Otherwise the locks of a killed replica last until its statement
 * ends.
 */
const CLIENT_CHECK_INTERVAL_MS = 1_000;

/** How every connection of the service is made. */
export function sessionConfig(options: SessionOptions): pg.ClientConfig {
  const config: pg.ClientConfig = {
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: columnTypes,
  };
  if (options.pooler === true) return config;
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const settings = `-c client_connection_check_interval=${CLIENT_CHECK_INTERVAL_MS} -c timezone=UTC`;
  // The driver leaves a 0 out, and then the role's own limit would stand.
  const more = statementTimeoutMs === 0 ? ['-c statement_timeout=0'] : [];
  if (options.plansOnce === true) more.push('-c plan_cache_mode=force_generic_plan');
  return {
    ...config,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    options: [settings, ...more].join(' '),
  };
}
