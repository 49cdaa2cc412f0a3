import type { BaseLogger } from 'pino';
import { collectDefaultMetrics, Registry, register } from 'prom-client';
import { connect, type Database } from '#storage/database/connection.ts';
import type { Durability } from '#storage/database/durability.ts';
import type { Clock } from '#time/clock.ts';
import type { DatabaseClock } from '#time/database-clock.ts';
import { registerBacklogGauges } from './backlog-gauges.ts';
import { type ChainLimits, registerChainGauges } from './chain-gauges.ts';
import { type RateReadings, registerRateGauges } from './rate-gauges.ts';
import type { Readiness, RestoreState } from './readiness.ts';
import {
  type ApiState,
  registerApiGauges,
  registerClockGauge,
  registerDurabilityGauges,
  registerPoolGauges,
  registerRefusalCounter,
  registerReplicaGauge,
  registerRestoreGauge,
} from './state-gauges.ts';

/** The parts of a process that are monitored. */
export interface Monitored {
  readonly readiness: () => Promise<Readiness>;
  /** Pools by name. */
  readonly pools: Readonly<Record<string, Database>>;
  readonly databaseClock?: Pick<DatabaseClock, 'offsetSeconds'>;
  /** null where the database is one server; left out where there is none. */
  readonly durability?: Pick<Durability, 'standbys' | 'reason'> | null;
  /** Present where reports are read from a server of their own. */
  readonly replica?: { readonly primary: Database; readonly replica: Database } | undefined;
  readonly restores?: RestoreState;
  /** Present where the API is served. */
  readonly api?: ApiState | undefined;
  /** Present where prices come from markets. */
  readonly rates?: (() => Promise<RateReadings>) | undefined;
  /** Present where the worker runs; it reports the backlog and the chains in the database. */
  readonly worker?: MonitoredWorker | undefined;
}

interface MonitoredWorker {
  readonly directUrl: string;
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'warn'>;
  readonly chains: readonly ChainLimits[];
}

/** Longest a statement for metrics may run, in milliseconds; most take one millisecond. */
const STATEMENT_TIMEOUT_MS = 2_000;

/** What the monitoring port serves, and the connections it needs. */
export interface Monitor {
  readonly registry: Registry;
  readonly readiness: () => Promise<Readiness>;
  close(): Promise<void>;
}

/**
 * Collects the metrics of a process, without serving them: the counters of its modules, which are in
 * prom-client's global registry, and gauges that are read at each scrape.
 */
export function createMonitor({
  readiness,
  pools,
  databaseClock,
  durability,
  replica,
  restores,
  api,
  rates,
  worker,
}: Monitored): Monitor {
  const gauges = new Registry();
  registerPoolGauges(gauges, pools);
  registerRefusalCounter(gauges);
  if (databaseClock !== undefined) registerClockGauge(gauges, databaseClock);
  if (durability !== undefined) registerDurabilityGauges(gauges, durability, pools.main);
  if (replica !== undefined) registerReplicaGauge(gauges, replica);
  if (restores !== undefined) registerRestoreGauge(gauges, restores);
  if (api !== undefined) registerApiGauges(gauges, api);
  if (rates !== undefined) registerRateGauges(gauges, rates);
  const backlog = worker === undefined ? undefined : connectBacklog(gauges, worker);
  return {
    registry: Registry.merge([register, gauges]),
    readiness,
    close: async () => backlog?.destroy(),
  };
}

function connectBacklog(
  gauges: Registry,
  { directUrl, clock, log, chains }: MonitoredWorker,
): Database {
  const db = connect({
    url: directUrl,
    poolSize: 1,
    applicationName: 'eps-metrics',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleError: error => log.warn({ err: error }, 'metrics connection lost'),
  });
  registerBacklogGauges(gauges, {
    db,
    clock,
    onError: error => log.warn({ err: error }, 'the backlog could not be read for metrics'),
  });
  registerChainGauges(gauges, {
    db,
    clock,
    chains,
    onError: error => log.warn({ err: error }, 'the chains could not be read for metrics'),
  });
  return db;
}

/**
 * How often the delay of the event loop is sampled, in milliseconds; the percentiles include it. Every
 * sample wakes the process: at the default of 10 they are half of what an idle process costs.
 */
const EVENT_LOOP_SAMPLE_MS = 50;

/** Adds Node's own metrics of the process: memory, CPU, event loop lag, garbage collection. */
export function watchProcess({ registry }: Monitor): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
}
