import { gather } from '../database/batch.ts';
import type { Database } from '../database/connection.ts';
import { isRefusedByDatabase } from '../database/failures.ts';
import { inOneStatement } from '../database/transaction.ts';
import { lockNameOf } from '../repositories/idempotency-keys.ts';
import {
  type ClaimedCreation,
  insertCreationsOnce,
  type Written,
} from '../repositories/payment-creation.ts';

/** Why a creation failed; others of its statement may not have. */
class Failure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/**
 * Most creations of one statement: so many wait for the slowest of them, and for whatever lock one of
 * them waits for. Chosen, not measured.
 */
const TOGETHER = 25;

const writers = new WeakMap<Database, ReturnType<typeof writerOn>>();

function writerOn(db: Database) {
  return gather((all: readonly ClaimedCreation[]) => writeDistinct(db, all), TOGETHER);
}

/**
 * Writes a creation under an idempotency key, in one statement with others that come in the same turn:
 * they share its commit, which costs more than all of them.
 * @throws UncertainCommit, and what the database refuses it with, alone.
 */
export async function writeCreation(db: Database, creation: ClaimedCreation): Promise<Written> {
  let write = writers.get(db);
  if (write === undefined) {
    write = writerOn(db);
    writers.set(db, write);
  }
  const written = await write(creation);
  if (written instanceof Failure) throw written.error;
  return written;
}

/** Of several with one key the first is the original, and the others come while it is at work. */
async function writeDistinct(
  db: Database,
  all: readonly ClaimedCreation[],
): Promise<(Written | Failure)[]> {
  const originals = new Map<string, ClaimedCreation>();
  for (const each of all) {
    const name = lockNameOf(each.scope);
    if (!originals.has(name)) originals.set(name, each);
  }
  const distinct = [...originals.values()];
  const written = new Map<ClaimedCreation, Written | Failure>();
  for (const [index, result] of (await writeTogether(db, distinct)).entries()) {
    const creation = distinct[index];
    if (creation !== undefined) written.set(creation, result);
  }
  return all.map(each => written.get(each) ?? 'in progress');
}

/** What is refused takes its whole statement with it; then each is written alone. */
async function writeTogether(
  db: Database,
  all: readonly ClaimedCreation[],
): Promise<(Written | Failure)[]> {
  try {
    return await inOneStatement(db, connection => insertCreationsOnce(connection, all));
  } catch (error) {
    // Without a connection, each alone would only wait for one as well.
    if (all.length === 1 || !isRefusedByDatabase(error)) return all.map(() => new Failure(error));
    return (await Promise.all(all.map(each => writeTogether(db, [each])))).flat();
  }
}
