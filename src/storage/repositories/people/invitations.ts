import type { Insertable } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { PanelLink, PanelLinksTable } from '../../database/people-tables.ts';
import { findBy } from '../rows.ts';

/** Whom a link is for: a person, or whoever will sign in as this user or member. */
export type LinkSubject = Pick<PanelLink, 'person_id' | 'merchant_user_id' | 'partner_member_id'>;

export async function insertLink(db: Connection, row: Insertable<PanelLinksTable>): Promise<void> {
  await db.insertInto('panel_links').values(row).execute();
}

/** @param tokenHash SHA-256 of the token in the link. */
export const findLink = findBy('panel_links', 'token_hash');

/**
 * Uses a link up.
 * @returns undefined if it was used, has expired or does not exist; of two concurrent calls only one gets it.
 */
export function takeLink(
  db: Connection,
  tokenHash: Buffer,
  now: Date,
): Promise<PanelLink | undefined> {
  return db
    .updateTable('panel_links')
    .set({ used_at: now })
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Ends the open links of a subject, since a new one replaces them.
 * @param byMailAlone Ends only links that the person asked for by mail.
 */
export async function endLinksOf(
  db: Connection,
  subject: LinkSubject,
  { now, byMailAlone = false }: { readonly now: Date; readonly byMailAlone?: boolean },
): Promise<void> {
  const { person_id, merchant_user_id, partner_member_id } = subject;
  await db
    .updateTable('panel_links')
    .set({ used_at: now })
    .where('used_at', 'is', null)
    .$if(byMailAlone, query => query.where('by_mail', '=', true))
    .where(({ eb, or }) =>
      or([
        ...(person_id === null ? [] : [eb('person_id', '=', person_id)]),
        ...(merchant_user_id === null ? [] : [eb('merchant_user_id', '=', merchant_user_id)]),
        ...(partner_member_id === null ? [] : [eb('partner_member_id', '=', partner_member_id)]),
      ]),
    )
    .execute();
}
