import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Connection, Database } from './connection.ts';
import { isLockConflict } from './errors.ts';

/**
 * Longest wait for one lock, in milliseconds. Writes that queue behind it are delayed as long, so less than a second
 * behind the three locks that a step takes. It is also less than the second after which PostgreSQL looks for
 * deadlocks, so in a deadlock with a step it is the step that gives up. The exception is a step that locks one table
 * twice, more strictly the second time: a session that uses the table in between gets the deadlock, and at once.
 */
const LOCK_TIMEOUT_MS = 200;
/**
 * Pauses before a lock is tried again, in milliseconds. After the first one, writes that only came at the same moment
 * are done. The longest lets others write while somebody holds the lock for long.
 */
const FIRST_RETRY_MS = 50;
const RETRY_MS = 1_000;
/** How many times a lock is tried: for two minutes. */
export const LOCK_TRIES = 120;

/** The migrations are not done, or tables are not partitioned yet. The message says what to do. */
export class MigrationUnfinished extends Error {
  override readonly name = 'MigrationUnfinished';
}

/** Why a lock could not be acquired. */
export const HELD =
  'Others have held a table all the time: a long transaction, a backup or a vacuum, which pg_stat_activity shows.';

/**
 * Runs a transaction that locks tables. It waits for a lock only briefly at a time, so that writes that queue behind it
 * can proceed in between.
 * @param db A connection of the owner, without a statement timeout.
 * @param tries How many times a lock is tried: once a second, after the first tries.
 */
export async function withShortLocks(
  db: Database,
  tries: number,
  work: (tx: Connection) => Promise<unknown>,
): Promise<void> {
  await untilUnlocked(tries, () =>
    db.transaction().execute(async tx => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx);
      await work(tx);
    }),
  );
}

/** Runs work, and retries it when locks of others end it. It must leave nothing behind when it fails. */
export async function untilUnlocked(tries: number, work: () => Promise<void>): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (!isLockConflict(error) || left <= 1) throw error;
      await sleep(Math.min(RETRY_MS, FIRST_RETRY_MS * 2 ** (tries - left)));
    }
  }
}
