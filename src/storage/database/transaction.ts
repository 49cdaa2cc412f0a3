import { sql } from 'kysely';
import pg from 'pg';
import type { Connection, Database } from './connection.ts';
import { isLockConflict, isRefusedByDatabase, ReadsRefused, WritesRefused } from './errors.ts';

/** PgBouncer's error for a statement that it sent to no server; it has the code of a lost connection. */
const NEVER_SENT = 'query_wait_timeout';

/** The connection failed during the commit: only reading back can tell whether it took effect. */
export class UncertainCommit extends Error {
  constructor(cause: unknown) {
    super('the commit was not confirmed; whether it took effect is not known', { cause });
    this.name = 'UncertainCommit';
  }
}

/** How many times work is tried that locks of others end. It takes PostgreSQL a second to find a deadlock. */
const TRIES = 3;

/** Effects that wait for the commit of an open transaction. */
const waiting = new WeakMap<Connection, (() => void)[]>();

/**
 * Runs `work` in a transaction, and after the commit the effects that it registered with `afterCommit`. It is retried
 * when locks of others end it, so that a deadlock fails no request.
 * @throws UncertainCommit when the connection failed once `work` was done; otherwise the error of `work`, or the error
 * with which the database refused the commit.
 */
export function transact<T>(db: Database, work: (tx: Connection) => Promise<T>): Promise<T> {
  return despiteLocks(() => transactOnce(db, work));
}

/** Runs work, and retries it when locks of others end it. It must leave nothing behind when it fails. */
async function despiteLocks<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES - 1; ; left--) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !isLockConflict(error)) throw error;
    }
  }
}

async function transactOnce<T>(db: Database, work: (tx: Connection) => Promise<T>): Promise<T> {
  const effects: (() => void)[] = [];
  let worked = false;
  let result: T;
  try {
    result = await db.transaction().execute(async tx => {
      waiting.set(tx, effects);
      const done = await work(tx);
      worked = true;
      return done;
    });
  } catch (error) {
    throw worked && !isCertain(error) ? new UncertainCommit(error) : error;
  }
  for (const effect of effects) effect();
  return result;
}

/**
 * Runs `effect` once the transaction has committed, and never when the transaction or the savepoint
 * around the call is rolled back. Outside a transaction it runs at once.
 */
export function afterCommit(db: Connection, effect: () => void): void {
  const effects = waiting.get(db);
  if (effects === undefined) effect();
  else effects.push(effect);
}

/**
 * Runs `work`, a single statement that commits by itself, on a connection of the pool; retries like `transact`.
 * @throws UncertainCommit when the connection failed. Any other error of the database means that the
 * statement had no effect and that its locks are released.
 */
export function inOneStatement<T>(
  db: Database,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return despiteLocks(() =>
    db.connection().execute(async connection => {
      try {
        return await work(connection);
      } catch (error) {
        if (!isCertain(error)) throw new UncertainCommit(error);
        // PostgreSQL reports the error before it releases the locks; it has released them once it answers
        // the next statement on this connection.
        if (isRefusedByDatabase(error))
          await sql`select`.execute(connection).catch(() => undefined);
        throw error;
      }
    }),
  );
}

/**
 * Whether an error proves that nothing was committed. A server that shuts down may end a session after
 * its commit, while it waits for a standby, and a pooler may lose the server that has the statement.
 */
function isCertain(error: unknown): boolean {
  if (error instanceof WritesRefused || error instanceof ReadsRefused) return true;
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.message === NEVER_SENT || !/^(08|57P)/.test(error.code ?? '');
}

/**
 * Runs `work` in a savepoint. When it fails, its writes are rolled back, the transaction can continue,
 * and the result is that of `recover`.
 */
export async function inSavepoint<T>(
  tx: Connection,
  work: (tx: Connection) => Promise<T>,
  recover: (error: unknown) => T,
): Promise<T> {
  const effects = waiting.get(tx) ?? [];
  const before = effects.length;
  await sql`savepoint work`.execute(tx);
  try {
    return await work(tx);
  } catch (error) {
    await sql`rollback to savepoint work`.execute(tx);
    effects.length = before;
    return recover(error);
  }
}
