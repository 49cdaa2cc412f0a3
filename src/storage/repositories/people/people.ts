import type { Connection } from '../../database/connection.ts';
import type { Person, RecoveryCode } from '../../database/people-tables.ts';
import { countRows, findById, hasRow, insertInto, lockById, updateByIdOrThrow } from '../rows.ts';

export const insertPerson = insertInto('people');
export const findPerson = findById('people');

/** How many people play with the demo. */
export async function countDemoPeople(db: Connection): Promise<number> {
  return countRows(db.selectFrom('people').where('is_demo', '=', true));
}

export function hasDemoPeople(db: Connection): Promise<boolean> {
  return hasRow(db.selectFrom('people').select('id').where('is_demo', '=', true));
}

/**
 * The person who has confirmed an e-mail, if anybody has.
 * @param email In any case.
 */
export function findPersonByEmail(db: Connection, email: string): Promise<Person | undefined> {
  return db
    .selectFrom('people')
    .selectAll()
    .where(({ fn }) => fn('lower', ['email']), '=', email.toLowerCase())
    .where('email_confirmed_at', 'is not', null)
    .executeTakeFirst();
}

/** The person who has signed in with a device after `since`, if anybody has. */
export function findPersonByDevice(
  db: Connection,
  tokenHash: Buffer,
  since: Date,
): Promise<Person | undefined> {
  return db
    .selectFrom('people')
    .innerJoin('known_devices', 'known_devices.person_id', 'people.id')
    .selectAll('people')
    .where('token_hash', '=', tokenHash)
    .where('known_devices.created_at', '>', since)
    .executeTakeFirst();
}

/**
 * Whoever changes what a person signs in with, or ends their sessions and links, locks the person first. The order of
 * locks is: account, test twin, the person who makes the change, user or member, the person it is about, links,
 * sessions.
 */
export const lockPerson = lockById('people', 'forNoKeyUpdate');
export const updatePerson = updateByIdOrThrow('people');

/** Notes when somebody last used the panel. */
export async function setLastSeen(db: Connection, id: string, now: Date): Promise<void> {
  await db.updateTable('people').set({ last_seen_at: now }).where('id', '=', id).execute();
}

/**
 * Uses up the code of a 30-second period.
 * @returns Whether it was unused: of several requests with it only the first one succeeds.
 */
export async function useCodeStep(db: Connection, id: string, step: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('people')
    .set({ code_last_step: step })
    .where('id', '=', id)
    .where(({ eb, or }) => or([eb('code_last_step', 'is', null), eb('code_last_step', '<', step)]))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Recovery codes that are not used yet; a person has eight at most. */
export function listRecoveryCodes(db: Connection, personId: string): Promise<RecoveryCode[]> {
  return db
    .selectFrom('recovery_codes')
    .selectAll()
    .where('person_id', '=', personId)
    .where('used_at', 'is', null)
    .limit(100)
    .execute();
}

/** @returns Whether the code was unused. */
export async function useRecoveryCode(
  db: Connection,
  { personId, hash, now }: { personId: string; hash: Buffer; now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('recovery_codes')
    .set({ used_at: now })
    .where('person_id', '=', personId)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Replaces all recovery codes of a person. */
export async function replaceRecoveryCodes(
  db: Connection,
  personId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await db.deleteFrom('recovery_codes').where('person_id', '=', personId).execute();
  await db
    .insertInto('recovery_codes')
    .values(hashes.map(hash => ({ hash, person_id: personId, used_at: null })))
    .execute();
}
