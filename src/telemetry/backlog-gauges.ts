import { Gauge, type Registry } from 'prom-client';
import type { Database } from '#storage/database/connection.ts';
import {
  COUNTED_MAXIMUM,
  countDueDeliveries,
  countPendingPayments,
  countUnmatchedDeposits,
  findOverdue,
} from '#storage/repositories/backlog.ts';
import { findPartitionsEnd } from '#storage/repositories/partitions.ts';
import type { Clock } from '#time/clock.ts';
import { snapshotOf } from './snapshot.ts';
import { snapshotGauges } from './snapshot-gauges.ts';

/** How long a reading of the database is reused, in milliseconds. */
const LIFETIME_MS = 10_000;
const FLOWS = ['crypto', 'regulated'] as const;

export interface BacklogDependencies {
  /** A connection of its own, with a short statement timeout. */
  readonly db: Database;
  readonly clock: Clock;
  /** Called when the database cannot be read. */
  readonly onError: (error: unknown) => void;
}

/** Registers gauges of the work that waits in the database, for all processes together. */
export function registerBacklogGauges(registry: Registry, deps: BacklogDependencies): void {
  const snapshot = snapshotOf(() => readBacklog(deps), LIFETIME_MS);
  const register = snapshotGauges(registry, snapshot);

  new Gauge({
    name: 'eps_backlog_readable',
    help: 'Whether the database let the backlog be read: 1 or 0; without it its metrics are left out',
    registers: [registry],
    async collect() {
      this.set((await snapshot()) === null ? 0 : 1);
    },
  });
  register(
    'eps_payments_pending',
    `Payments that wait for funds or finality, the first ${COUNTED_MAXIMUM} to expire`,
    ['flow', 'blockchain_id'],
    (gauge, { pending }) => {
      for (const { flow, blockchainId, count } of pending) {
        gauge.set({ flow, blockchain_id: blockchainId ?? 'none' }, count);
      }
    },
  );
  register(
    'eps_payments_expiry_lag_seconds',
    'How long the payment that is longest overdue should have expired; 0 without one',
    ['flow'],
    (gauge, { overdue }) => {
      for (const flow of FLOWS) gauge.set({ flow }, overdue.get(flow) ?? 0);
    },
  );
  register(
    'eps_webhook_deliveries_due',
    `Deliveries whose next attempt is due, at most ${COUNTED_MAXIMUM}`,
    [],
    (gauge, { deliveries }) => gauge.set(deliveries.count),
  );
  register(
    'eps_webhook_oldest_due_age_seconds',
    'How long the attempt that is longest due has been; 0 without one',
    [],
    (gauge, { deliveries }) => gauge.set(deliveries.ageSeconds),
  );
  register(
    'eps_deposits_unmatched',
    `Deposits in the inbox that no payment took, at most ${COUNTED_MAXIMUM}`,
    [],
    (gauge, { unmatched }) => gauge.set(unmatched),
  );
  register(
    'eps_database_partitions_left_seconds',
    'For how long from now the rows of tables that are partitioned by month have a partition',
    [],
    (gauge, { partitionsLeft }) => gauge.set(partitionsLeft),
  );
}

/** Reads the backlog in short statements, one after the other; null when the database fails. */
async function readBacklog({ db, clock, onError }: BacklogDependencies) {
  const now = new Date(clock());
  const signedSecondsSince = (since: Date) => (now.getTime() - since.getTime()) / 1000;
  const secondsSince = (since: Date) => Math.max(0, signedSecondsSince(since));
  try {
    const pending = await countPendingPayments(db);
    const overdue = await findOverdue(db, now);
    const due = await countDueDeliveries(db, now);
    return {
      pending,
      overdue: new Map(overdue.map(({ flow, since }) => [flow, secondsSince(since)])),
      deliveries: {
        count: due.count,
        ageSeconds: due.since === null ? 0 : secondsSince(due.since),
      },
      unmatched: await countUnmatchedDeposits(db),
      partitionsLeft: -signedSecondsSince(await findPartitionsEnd(db, now)),
    };
  } catch (error) {
    onError(error);
    return null;
  }
}
