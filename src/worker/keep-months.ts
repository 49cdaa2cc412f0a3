import type { BaseLogger } from 'pino';
import { REQUEST_RETENTION_DAYS } from '#accounts/requests/stored-fields.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { isLockTimeout } from '#storage/database/errors.ts';
import { MONTHS_AHEAD } from '#storage/database/partition-tables.ts';
import {
  dropPartitions,
  makePartitions,
  type PartitionGroup,
} from '#storage/repositories/partitions.ts';
import type { Clock } from '#time/clock.ts';
import type { Loop } from './loop.ts';

/** Often enough to retry soon a month whose table was in use, and to notice a loop that hangs. */
const INTERVAL_MS = 60_000;

/** The last instant whose month has to exist now, so that rows find a partition long before their month begins. */
function madeUntil(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + MONTHS_AHEAD, 1));
}

/**
 * Creates the coming months of tables that are partitioned by month, and drops months that are older than
 * events, webhook deliveries and attempts, or requests, are kept.
 */
export function keepMonthsLoop(
  db: Database,
  clock: Clock,
  retentionDays: number,
  logger: Pick<BaseLogger, 'info'>,
): Loop {
  const older = (group: PartitionGroup, days: number) => (tx: Connection, now: Date) =>
    dropPartitions(tx, group, { now, days });
  const steps = [
    ['made', (tx: Connection, now: Date) => makePartitions(tx, madeUntil(now))],
    ['dropped', older('events', retentionDays)],
    ['dropped', older('requests', REQUEST_RETENTION_DAYS)],
  ] as const;
  return {
    name: 'keep-months',
    intervalMs: INTERVAL_MS,
    async run() {
      const failures: unknown[] = [];
      for (const [what, step] of steps) {
        // A month that cannot be dropped must not keep the next one from being created.
        const partitions = await step(db, new Date(clock())).catch(error => {
          // A backup reads all tables for as long as it takes, and a vacuum of payments blocks the creation
          // of foreign keys. Months are created long before they begin, and an alert reports a missing one.
          if (isLockTimeout(error)) {
            logger.info({ err: error }, `tables in use: months are ${what} later`);
          } else failures.push(error);
          return [];
        });
        if (partitions.length > 0) logger.info({ partitions }, `monthly partitions ${what}`);
      }
      if (failures.length > 0)
        throw new AggregateError(failures, 'months were not made or dropped');
    },
  };
}
