import { Counter, Gauge, type Registry } from 'prom-client';
import type { NonceStore } from '#signing/nonce-store.ts';
import { countAsynchronousStandbys } from '#storage/database/asynchronous-standbys.ts';
import type { ChangeFeed } from '#storage/database/change-feed.ts';
import { type Database, poolUse } from '#storage/database/connection.ts';
import type { Durability } from '#storage/database/durability.ts';
import { readRefusals } from '#storage/database/refusals.ts';
import { readReplicaLag } from '#storage/database/replica-lag.ts';
import type { DatabaseClock } from '#time/database-clock.ts';
import { type RestoreState, resultInTime } from './readiness.ts';
import { snapshotOf } from './snapshot.ts';
import { snapshotGauges } from './snapshot-gauges.ts';

/** How long a probe of the nonce store or of a replica is reused, in milliseconds. */
const PROBE_LIFETIME_MS = 1_000;
/** Longest a probe may take, in milliseconds. */
const PROBE_TIMEOUT_MS = 1_000;

/** Registers gauges of connection pools, by the pool's name. */
export function registerPoolGauges(
  registry: Registry,
  pools: Readonly<Record<string, Database>>,
): void {
  const register = snapshotGauges(registry, async () =>
    Object.entries(pools).flatMap(([pool, db]) => {
      const use = poolUse(db);
      return use === undefined ? [] : [{ pool, ...use }];
    }),
  );
  register(
    'eps_database_pool_connections',
    'Connections of a pool, busy or idle',
    ['pool', 'state'],
    (gauge, uses) => {
      for (const { pool, busy, idle } of uses) {
        gauge.set({ pool, state: 'busy' }, busy);
        gauge.set({ pool, state: 'idle' }, idle);
      }
    },
  );
  register(
    'eps_database_pool_connections_limit',
    'Connections that a pool may have',
    ['pool'],
    (gauge, uses) => {
      for (const { pool, limit } of uses) gauge.set({ pool }, limit);
    },
  );
  register(
    'eps_database_pool_waiting',
    'Work that waits for a connection of a pool',
    ['pool'],
    (gauge, uses) => {
      for (const { pool, waiting } of uses) gauge.set({ pool }, waiting);
    },
  );
}

/** Registers gauges of whether commits survive the loss of one machine. */
export function registerDurabilityGauges(
  registry: Registry,
  durability: Pick<Durability, 'standbys' | 'reason'> | null,
  db: Database | undefined,
): void {
  new Gauge({
    name: 'eps_database_durability_info',
    help: 'DATABASE_DURABILITY of the process: always 1',
    labelNames: ['durability'],
    registers: [registry],
  }).set({ durability: durability === null ? 'server' : 'replicated' }, 1);
  const asynchronous = async () =>
    durability !== null || db === undefined
      ? null
      : ((await resultInTime(countAsynchronousStandbys(db), PROBE_TIMEOUT_MS)) ?? null);
  snapshotGauges(registry, snapshotOf(asynchronous, PROBE_LIFETIME_MS))(
    'eps_database_asynchronous_standbys',
    'Standbys that no commit waits for, which may lack what was confirmed',
    [],
    (gauge, standbys) => gauge.set(standbys),
  );
  if (durability === null) return;
  snapshotGauges(registry, async () => durability.standbys())(
    'eps_database_synchronous_standbys',
    'Standbys that commits wait for; absent while the primary does not answer',
    [],
    (gauge, standbys) => gauge.set(standbys),
  );
  snapshotGauges(registry, async () => durability.reason() !== null)(
    'eps_database_writes_refused',
    'Whether writes are refused, since they could be lost with one machine: 1 or 0',
    [],
    (gauge, isRefused) => gauge.set(isRefused ? 1 : 0),
  );
}

/**
 * Registers the counter of statements that the database servers have refused for a problem of their own, such
 * as a full disk.
 */
export function registerRefusalCounter(registry: Registry): void {
  new Counter({
    name: 'eps_database_refusals_total',
    help: 'Statements that the database has refused: its disk is full, it is read-only, or lacks something else',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(readRefusals())) this.inc({ reason }, count);
    },
  });
}

/** Registers the gauge of a restore. */
export function registerRestoreGauge(registry: Registry, restores: RestoreState): void {
  snapshotGauges(registry, async () => restores.isUnconfirmed())(
    'eps_database_restore_unconfirmed',
    'Whether writes are refused, since the database was restored and nobody has confirmed it: 1 or 0',
    [],
    (gauge, isUnconfirmed) => gauge.set(isUnconfirmed ? 1 : 0),
  );
}

/** Registers the gauge of the clock. */
export function registerClockGauge(
  registry: Registry,
  clock: Pick<DatabaseClock, 'offsetSeconds'>,
): void {
  snapshotGauges(registry, async () => clock.offsetSeconds() ?? null)(
    'eps_clock_offset_seconds',
    "How far the clock of the process is ahead of the database's; negative when it is behind",
    [],
    (gauge, offset) => gauge.set(offset),
  );
}

export interface ApiState {
  readonly nonces: NonceStore;
  readonly changes: ChangeFeed;
}

/** Registers the gauge of the replica that reports are read from. */
export function registerReplicaGauge(
  registry: Registry,
  { primary, replica }: { readonly primary: Database; readonly replica: Database },
): void {
  const lag = async () =>
    (await resultInTime(readReplicaLag(primary, replica), PROBE_TIMEOUT_MS)) ?? null;
  snapshotGauges(registry, snapshotOf(lag, PROBE_LIFETIME_MS))(
    'eps_database_reports_lag_seconds',
    'How far the replica that reports are read from is behind; absent while it does not answer',
    [],
    (gauge, seconds) => gauge.set(seconds),
  );
}

/** Registers gauges of what the API depends on. */
export function registerApiGauges(registry: Registry, { nonces, changes }: ApiState): void {
  const { kind } = nonces;
  const labels = (name: string | null) => (name === null ? { kind } : { kind, server: name });
  const probe = () => resultInTime(nonces.probe(), PROBE_TIMEOUT_MS);
  const register = snapshotGauges(
    registry,
    snapshotOf(async () => (await probe()) ?? [], PROBE_LIFETIME_MS),
  );
  register(
    'eps_nonce_store_up',
    'Whether the nonce store responds, or each of its masters: 1 or 0',
    ['kind', 'server'],
    (gauge, servers) => {
      if (servers.length === 0) gauge.set({ kind }, 0);
      for (const { name, failure } of servers) gauge.set(labels(name), failure === null ? 1 : 0);
    },
  );
  register(
    'eps_nonce_store_may_evict',
    'Whether the nonce store may drop nonces before their time: 1 or 0; absent while it is down',
    ['kind', 'server'],
    (gauge, servers) => {
      for (const { name, failure, evictionPolicy } of servers) {
        if (failure === null) gauge.set(labels(name), evictionPolicy === null ? 0 : 1);
      }
    },
  );
  snapshotGauges(registry, () => changes.renew())(
    'eps_account_changes_heard',
    'Whether changes to accounts are heard, so that accounts may be cached: 1 or 0',
    [],
    (gauge, heard) => gauge.set(heard ? 1 : 0),
  );
}
