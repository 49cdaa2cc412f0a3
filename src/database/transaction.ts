import { sql } from 'kysely';
import pg from 'pg';
import type { Connection, Database } from './connection.ts';
import { isRefusedByDatabase } from './failures.ts';

/** What PgBouncer says, with the code of a lost connection, of a statement that it sent to nobody. */
const NEVER_SENT = 'query_wait_timeout';

/**
 * The connection failed while committing: the work has taken effect or has not, and only reading it
 * back can tell.
 */
export class UncertainCommit extends Error {
  constructor(cause: unknown) {
    super('the commit was not confirmed; whether it took effect is not known', { cause });
    this.name = 'UncertainCommit';
  }
}

/** What is to be done once a transaction that is open has committed. */
const waiting = new WeakMap<Connection, (() => void)[]>();

/**
 * Runs `work` in a transaction, and then what it left to `afterCommit`.
 * @throws whatever `work` throws, and the commit.
 */
export async function transact<T>(db: Database, work: (tx: Connection) => Promise<T>): Promise<T> {
  const effects: (() => void)[] = [];
  const result = await db.transaction().execute(tx => {
    waiting.set(tx, effects);
    return work(tx);
  });
  for (const effect of effects) effect();
  return result;
}

/**
 * Leaves `effect` until the transaction has committed; it never happens when that, or the savepoint
 * around it, is rolled back. Outside a transaction it happens at once.
 */
export function afterCommit(db: Connection, effect: () => void): void {
  const effects = waiting.get(db);
  if (effects === undefined) effect();
  else effects.push(effect);
}

/**
 * Runs `work` in a transaction.
 * @throws UncertainCommit when everything but the commit succeeded, and whatever `work` throws.
 */
export async function inTransaction<T>(
  db: Database,
  work: (tx: Connection) => Promise<T>,
): Promise<T> {
  let worked = false;
  try {
    return await transact(db, async tx => {
      const result = await work(tx);
      worked = true;
      return result;
    });
  } catch (error) {
    throw worked ? new UncertainCommit(error) : error;
  }
}

/**
 * Runs `work`, one statement that commits by itself, on a connection of the pool.
 * @throws UncertainCommit when the connection failed under it, and whatever the statement is refused
 * with, which says that it has had no effect, and that its locks are free again.
 */
export function inOneStatement<T>(
  db: Database,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async connection => {
    try {
      return await work(connection);
    } catch (error) {
      if (!isCertain(error)) throw new UncertainCommit(error);
      // PostgreSQL tells of a refusal before it lets the statement's locks go, and answers nothing more
      // on that connection until it has.
      if (isRefusedByDatabase(error)) await sql`select`.execute(connection).catch(() => undefined);
      throw error;
    }
  });
}

/**
 * A server that shuts down may end a session after its commit, while it waits for a standby; and a
 * pooler may lose the server to which it has sent a statement.
 */
function isCertain(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.message === NEVER_SENT || !/^(08|57P)/.test(error.code ?? '');
}

/**
 * Runs `work` within a transaction. When it fails, what it wrote is undone, the transaction can go
 * on, and the result is what `recover` makes of the error.
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
