import type pg from 'pg';
import { columnTypes } from './column-values.ts';

export interface SessionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Longest a statement may run, in milliseconds; 0 for no limit, as for migrations. */
  readonly statementTimeoutMs?: number;
  /**
   * Whether `url` is a pooler in transaction mode (PgBouncer), which keeps neither session settings
   * nor prepared statements.
   */
  readonly pooler?: boolean;
  /**
   * Whether prepared statements are planned once, whatever their values, because they read by an index
   * in any case. Otherwise PostgreSQL plans each page of a long history anew: it expects an unknown
   * limit to be a tenth of all rows.
   */
  readonly plansOnce?: boolean;
}

/**
 * Idle time before TCP keepalive probes, in milliseconds. Gateways drop idle connections, and Linux
 * probes only after two hours by default.
 */
export const KEEP_ALIVE_DELAY_MS = 30_000;
/** Longest a request waits for a connection, in milliseconds, before it gets E5002. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longest a request's statement may run, in milliseconds; the slowest usual one takes far less. */
export const STATEMENT_TIMEOUT_MS = 10_000;
/** Longest a transaction may be idle, in milliseconds: then its replica hangs and holds locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 15_000;
/**
 * How often PostgreSQL checks during a statement that its client is still connected, in milliseconds.
 * Otherwise a killed replica holds its locks until the statement ends.
 */
const CLIENT_CHECK_INTERVAL_MS = 1_000;

/** The settings of every connection. */
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
  // pg omits a timeout of 0, which would leave the role's own limit in force.
  const more = statementTimeoutMs === 0 ? ['-c statement_timeout=0'] : [];
  if (options.plansOnce === true) more.push('-c plan_cache_mode=force_generic_plan');
  return {
    ...config,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    options: [settings, ...more].join(' '),
  };
}
