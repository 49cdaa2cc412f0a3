import { sql } from 'kysely';
import type { Connection, Database } from './connection.ts';

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
    return await db.transaction().execute(async tx => {
      const result = await work(tx);
      worked = true;
      return result;
    });
  } catch (error) {
    throw worked ? new UncertainCommit(error) : error;
  }
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
  await sql`savepoint work`.execute(tx);
  try {
    return await work(tx);
  } catch (error) {
    await sql`rollback to savepoint work`.execute(tx);
    return recover(error);
  }
}
