import type { Connection } from '../database/connection.ts';

/** Locks a number until the transaction ends, and waits for other transactions that have it. */
export async function lockNumber(db: Connection, key: number): Promise<void> {
  await db
    .selectNoFrom(({ fn, val }) => fn('pg_advisory_xact_lock', [val(key)]).as('locked'))
    .execute();
}

/**
 * Tries to lock a name until the transaction ends, without waiting. PostgreSQL releases the lock when the
 * connection is lost.
 */
export async function tryLockName(db: Connection, name: string): Promise<boolean> {
  const { locked } = await db
    .selectNoFrom(({ fn, lit, val }) => {
      const key = fn('hashtextextended', [val(name), lit(0)]);
      return fn<boolean>('pg_try_advisory_xact_lock', [key]).as('locked');
    })
    .executeTakeFirstOrThrow();
  return locked;
}
