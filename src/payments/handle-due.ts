import type { BaseLogger } from 'pino';
import type { Connection, Database } from '#storage/database/connection.ts';
import { inSavepoint, transact } from '#storage/database/transaction.ts';

/** How to lock rows that are due for something, and what to do with each. */
interface DueWork<T> {
  /**
   * Locks due rows, up to a limit; skips those locked by others. Also called outside of a transaction, to see whether
   * any is due.
   */
  readonly lock: (tx: Connection) => Promise<T[]>;
  readonly handle: (tx: Connection, row: T) => Promise<unknown>;
  /** What could not be done, as in "2 payments could not be …". */
  readonly what: string;
  /** Gets the error of a batch whose rows were then handled one by one. */
  readonly log: Pick<BaseLogger, 'warn'> | undefined;
}

/**
 * Handles due rows in one transaction. If that fails, handles each in a savepoint, so that a row that cannot be
 * handled does not block the others.
 * @returns The number of rows handled.
 * @throws AggregateError with the failures, after all others have been handled.
 */
export async function handleDue<T>(db: Database, work: DueWork<T>): Promise<number> {
  // Usually nothing is due. A single statement shows that without a transaction around it.
  if ((await work.lock(db)).length === 0) return 0;
  try {
    return await transact(db, async tx => {
      const due = await work.lock(tx);
      for (const row of due) await work.handle(tx, row);
      return due.length;
    });
  } catch (error) {
    const handled = await handleOneByOne(db, work);
    work.log?.warn(
      { err: error },
      `payments were ${work.what} one by one, since together it failed`,
    );
    return handled;
  }
}

async function handleOneByOne<T>(
  db: Database,
  { lock, handle, what }: DueWork<T>,
): Promise<number> {
  const failures: unknown[] = [];
  const handled = await transact(db, async tx => {
    failures.length = 0;
    const due = await lock(tx);
    for (const row of due) {
      await inSavepoint(
        tx,
        () => handle(tx, row),
        error => void failures.push(error),
      );
    }
    return due.length - failures.length;
  });
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} payments could not be ${what}`);
  }
  return handled;
}
