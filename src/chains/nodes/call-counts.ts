import type { BaseLogger } from 'pino';
import type { Connection } from '#storage/database/connection.ts';
import { addNodeCalls } from '#storage/repositories/chains/node-calls.ts';
import type { Clock } from '#time/clock.ts';
import type { Member } from './member.ts';

/** Time between two writes, in milliseconds. */
const WRITE_INTERVAL_MS = 10_000;

interface CallCountsOptions {
  readonly db: Connection;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'warn'>;
  /** Whether the totals of all processes are read even when this process has made no call. */
  readonly reads: boolean;
}

/** Adds the calls of this process to the counts in the database, and reads the totals of all processes. */
export function createCallCounts({ db, clock, logger, reads }: CallCountsOptions) {
  let writtenAt = Number.NEGATIVE_INFINITY;

  async function writeOf(members: readonly Member[], readsOthers: boolean): Promise<void> {
    const counts = members
      .map(({ open, quota }) => ({ node: open.settings.id, calls: quota.unwritten() }))
      .filter(({ calls }) => calls > 0 || readsOthers);
    if (counts.length === 0) return;
    const totals = await addNodeCalls(db, counts, new Date(clock()));
    for (const { open, quota } of members) {
      const { calls } = counts.find(({ node }) => node === open.settings.id) ?? {};
      const total = totals.find(({ node }) => node === open.settings.id);
      if (calls !== undefined && total !== undefined) quota.wrote(calls, total);
    }
  }

  return {
    /** Writes, unless it did so less than 10 seconds ago. */
    async write(members: readonly Member[]): Promise<void> {
      const now = clock();
      if (Math.abs(now - writtenAt) < WRITE_INTERVAL_MS) return;
      writtenAt = now;
      await writeOf(members, reads);
    },
    /** Writes the remaining calls of members that are closed. */
    async writeLast(members: readonly Member[]): Promise<void> {
      try {
        await writeOf(members, false);
      } catch (error) {
        logger.warn({ err: error }, 'the last calls of a node are not counted');
      }
    },
  };
}
