import type { BaseLogger } from 'pino';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { connect, type Database } from '../database/connection.ts';
import type { Clock } from '../time/clock.ts';
import { registerBacklogGauges } from './backlog-gauges.ts';
import { API_COUNTS, PAYMENT_COUNTS, WORKER_COUNTS } from './counts.ts';
import { createRegistry } from './registry.ts';
import { type ApiState, registerApiGauges, registerPoolGauges } from './state-gauges.ts';

/** What a process does, and so has to tell. */
export interface Monitored {
  /** Pools by name. */
  readonly pools: Readonly<Record<string, Database>>;
  /** Present where the API is served. */
  readonly api?: ApiState | undefined;
  /** Present where the worker runs: what waits in the database. */
  readonly worker?:
    | { readonly directUrl: string; readonly clock: Clock; readonly log: Pick<BaseLogger, 'warn'> }
    | undefined;
}

/** Longest a statement for metrics may run, in milliseconds: most take one. */
const STATEMENT_TIMEOUT_MS = 2_000;

/** All that is told of a process, and what it takes to tell it. */
export interface Monitor {
  readonly registry: Registry;
  close(): Promise<void>;
}

/** Puts together what is told of a process, without serving it. */
export function createMonitor({ pools, api, worker }: Monitored): Monitor {
  const registry = createRegistry([
    ...PAYMENT_COUNTS,
    ...(api === undefined ? [] : API_COUNTS),
    ...(worker === undefined ? [] : WORKER_COUNTS),
  ]);
  registerPoolGauges(registry, pools);
  if (api !== undefined) registerApiGauges(registry, api);
  if (worker === undefined) return { registry, close: async () => undefined };
  const { directUrl, clock, log } = worker;
  const db = connect({
    url: directUrl,
    poolSize: 1,
    applicationName: 'eps-metrics',
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleError: error => log.warn({ err: error }, 'metrics connection lost'),
  });
  registerBacklogGauges(registry, {
    db,
    clock,
    onError: error => log.warn({ err: error }, 'the backlog could not be read for metrics'),
  });
  return { registry, close: () => db.destroy() };
}

/** Adds what Node tells of the process itself: memory, CPU, event loop lag, garbage collection. */
export function watchProcess({ registry }: Monitor): void {
  collectDefaultMetrics({ register: registry });
}
