import type pg from 'pg';
import { columnTypes } from './column-values.ts';
import { primaryOf } from './primary.ts';
import { PATIENT_CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './time-limits.ts';
import type { WriteGate } from './write-gate.ts';

export interface SessionOptions {
  /** May name several servers of one cluster, of which the primary is used (config/server-urls.ts). */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Longest wait for a connection, in milliseconds; shorter where requests wait. */
  readonly connectTimeoutMs?: number;
  /** Longest a statement may run, in milliseconds; 0 for no limit, as for migrations. */
  readonly statementTimeoutMs?: number;
  /**
   * Whether `url` is a pooler in transaction mode (PgBouncer), which keeps neither session settings
   * nor prepared statements.
   */
  readonly pooler?: boolean;
  /**
   * How statements are planned: `by-index` where every statement has an index to read by, `once` where
   * in addition each is short and prepared; by default as PostgreSQL sees fit.
   */
  readonly plans?: keyof typeof PLAN_SETTINGS;
  /** Refuses statements while they are unsafe. */
  readonly gate?: WriteGate | undefined;
}

/**
 * PostgreSQL keeps the plans of prepared statements, triggers and foreign keys until a table is analysed.
 * A plan that was made while the table was small reads all of it, and goes on to when it is large. With
 * these settings no statistics make it choose such a plan. Before version 18 they raise estimates beyond
 * the costs from which plans are compiled, hence `jit`.
 */
const BY_INDEX = { enable_seqscan: 'off', jit: 'off' };

const PLAN_SETTINGS = {
  'by-index': BY_INDEX,
  /**
   * Plans prepared statements once, without regard to their values. Otherwise PostgreSQL plans each page of a
   * long history again: it expects an unknown limit to be a tenth of all rows. A page is read in the
   * order of its index; a bitmap would collect the whole history first.
   */
  once: { ...BY_INDEX, enable_bitmapscan: 'off', plan_cache_mode: 'force_generic_plan' },
};

/**
 * Idle time before TCP keepalive probes, in milliseconds. Gateways drop idle connections, and Linux
 * probes only after two hours by default.
 */
const KEEP_ALIVE_DELAY_MS = 30_000;
/** Longest a transaction may be idle, in milliseconds; beyond that, its replica hangs and holds locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 15_000;
/**
 * How often PostgreSQL checks during a statement that its client is still connected, in milliseconds.
 * Otherwise a killed replica holds its locks until the statement ends.
 */
const CLIENT_CHECK_INTERVAL_MS = 1_000;

/**
 * Settings that a pooler must give its sessions, since those take no settings from clients. Values are as
 * pg_settings shows them; times are in milliseconds.
 */
export const POOLED_SETTINGS: Readonly<Record<string, string>> = {
  ...PLAN_SETTINGS['by-index'],
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_TRANSACTION_TIMEOUT_MS),
  client_connection_check_interval: String(CLIENT_CHECK_INTERVAL_MS),
};

type SessionConfig = pg.ClientConfig & { readonly connectionString: string };

/** The settings of every connection. */
export function sessionConfig(options: SessionOptions): SessionConfig {
  const config: SessionConfig = {
    connectionString: primaryOf(options.url).url,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? PATIENT_CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    types: columnTypes,
  };
  if (options.pooler === true) return config;
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const settings = [
    `client_connection_check_interval=${CLIENT_CHECK_INTERVAL_MS}`,
    'timezone=UTC',
    // pg omits a timeout of 0, which would leave the role's own limit in force.
    ...(statementTimeoutMs === 0 ? ['statement_timeout=0'] : []),
    ...Object.entries(options.plans === undefined ? {} : PLAN_SETTINGS[options.plans]).map(
      ([name, value]) => `${name}=${value}`,
    ),
  ];
  return {
    ...config,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    options: settings.map(setting => `-c ${setting}`).join(' '),
  };
}
