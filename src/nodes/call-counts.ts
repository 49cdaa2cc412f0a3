import type { BaseLogger } from 'pino';
import type { Connection } from '../database/connection.ts';
import { addNodeCalls } from '../repositories/chains/node-calls.ts';
import type { Clock } from '../time/clock.ts';
import type { Member } from './member.ts';

/** Time between two writes, in milliseconds. */
const WRITE_INTERVAL_MS = 10_000;

interface CallCountsOptions {
  readonly db: Connection;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'warn'>;
  /** Whether what other processes have made is read as well when this one has made no call. */
  readonly reads: boolean;
}

/** Adds the calls of a process up in the database, from where they come back with those of all others. */
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
    /** Writes unless that was done seconds ago. */
    async write(members: readonly Member[]): Promise<void> {
      const now = clock();
      if (Math.abs(now - writtenAt) < WRITE_INTERVAL_MS) return;
      writtenAt = now;
      await writeOf(members, reads);
    },
    /** Writes what is left of members that are closed. */
    async writeLast(members: readonly Member[]): Promise<void> {
      try {
        await writeOf(members, false);
      } catch (error) {
        logger.warn({ err: error }, 'the last calls of a node are not counted');
      }
    },
  };
}
