import { Gauge, type Registry } from 'prom-client';
import type { ChangeFeed } from '../database/change-feed.ts';
import { type Database, poolUse } from '../database/connection.ts';
import type { NonceStore } from '../signing/nonce-store.ts';
import type { ClockWatch } from './clock-watch.ts';
import { answerInTime } from './readiness.ts';
import { snapshotOf } from './snapshot.ts';

/** How long a probe of the nonce store is reused, in milliseconds. */
const PROBE_LIFETIME_MS = 1_000;
/** Longest a probe may take, in milliseconds. */
const PROBE_TIMEOUT_MS = 1_000;

/** Registers gauges of connection pools, by the pool's name. */
export function registerPoolGauges(
  registry: Registry,
  pools: Readonly<Record<string, Database>>,
): void {
  const uses = () =>
    Object.entries(pools).flatMap(([pool, db]) => {
      const use = poolUse(db);
      return use === undefined ? [] : [{ pool, ...use }];
    });
  new Gauge({
    name: 'eps_database_pool_connections',
    help: 'Connections of a pool, busy or idle',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const { pool, busy, idle } of uses()) {
        this.set({ pool, state: 'busy' }, busy);
        this.set({ pool, state: 'idle' }, idle);
      }
    },
  });
  new Gauge({
    name: 'eps_database_pool_connections_limit',
    help: 'Connections that a pool may have',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const { pool, limit } of uses()) this.set({ pool }, limit);
    },
  });
  new Gauge({
    name: 'eps_database_pool_waiting',
    help: 'Work that waits for a connection of a pool',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const { pool, waiting } of uses()) this.set({ pool }, waiting);
    },
  });
}

/** Registers the gauge of the clock. */
export function registerClockGauge(registry: Registry, watch: ClockWatch): void {
  new Gauge({
    name: 'eps_clock_offset_seconds',
    help: "How far the clock of the process is ahead of the database's; negative when it is behind",
    registers: [registry],
    collect() {
      const offset = watch.offsetSeconds();
      this.reset();
      // A gauge without labels is 0 after a reset.
      if (offset === undefined) this.remove();
      else this.set(offset);
    },
  });
}

export interface ApiState {
  readonly nonces: NonceStore;
  readonly changes: ChangeFeed;
}

/** Registers gauges of what the API depends on. */
export function registerApiGauges(registry: Registry, { nonces, changes }: ApiState): void {
  const probe = snapshotOf(() => answerInTime(nonces.probe(), PROBE_TIMEOUT_MS), PROBE_LIFETIME_MS);
  new Gauge({
    name: 'eps_nonce_store_up',
    help: 'Whether the nonce store answers: 1 or 0',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      this.set({ kind: nonces.kind }, (await probe()) === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: 'eps_nonce_store_may_evict',
    help: 'Whether the nonce store may drop nonces before their time: 1 or 0; absent while it is down',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      this.reset();
      const state = await probe();
      if (state === undefined) return;
      this.set({ kind: nonces.kind }, state.evictionPolicy === null ? 0 : 1);
    },
  });
  new Gauge({
    name: 'eps_account_changes_heard',
    help: 'Whether changes to accounts are heard, so that accounts may be remembered: 1 or 0',
    registers: [registry],
    async collect() {
      this.set((await changes.renew()) ? 1 : 0);
    },
  });
}
