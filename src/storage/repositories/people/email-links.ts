import type { Connection } from '../../database/connection.ts';
import type { EmailLink } from '../../database/people-tables.ts';
import { findBy, hasRow, insertInto } from '../rows.ts';

/** @param tokenHash SHA-256 of the token in the link. */
export const findEmailLink = findBy('email_links', 'token_hash');

/** Adds a link that confirms an e-mail of a person. */
export const insertEmailLink = insertInto('email_links');

/** Whether a person has a link, open or not, to another e-mail than this one that was asked for after `since`. */
export function hasLinkToOther(
  db: Connection,
  personId: string,
  email: string,
  since: Date,
): Promise<boolean> {
  const query = db
    .selectFrom('email_links')
    .select('id')
    .where('person_id', '=', personId)
    .where(({ fn }) => fn('lower', ['email']), '!=', email.toLowerCase())
    .where('created_at', '>', since);
  return hasRow(query);
}

/** Ends the open links that confirm an e-mail of a person. */
export async function endEmailLinks(db: Connection, personId: string, now: Date): Promise<void> {
  await db
    .updateTable('email_links')
    .set({ used_at: now })
    .where('person_id', '=', personId)
    .where('used_at', 'is', null)
    .execute();
}

/**
 * Uses a link up.
 * @returns undefined if it was used, has expired or does not exist; of two concurrent calls only one gets it.
 */
export function takeEmailLink(
  db: Connection,
  tokenHash: Buffer,
  now: Date,
): Promise<EmailLink | undefined> {
  return db
    .updateTable('email_links')
    .set({ used_at: now })
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}
