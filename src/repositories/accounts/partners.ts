import type { Insertable, Updateable } from 'kysely';
import type {
  Partner,
  PartnerMember,
  PartnerMembersTable,
  PartnersTable,
} from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';

export function insertPartner(db: Connection, row: Insertable<PartnersTable>): Promise<Partner> {
  return db.insertInto('partners').values(row).returningAll().executeTakeFirstOrThrow();
}

export function findPartner(db: Connection, id: string): Promise<Partner | undefined> {
  return db.selectFrom('partners').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Newest first, at most `limit`. With `before`, only those older than that partner. */
export function listPartners(
  db: Connection,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Partner[]> {
  return db
    .selectFrom('partners')
    .selectAll()
    .$if(before !== undefined, query => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export function updatePartner(
  db: Connection,
  id: string,
  change: Updateable<PartnersTable>,
): Promise<Partner | undefined> {
  return db
    .updateTable('partners')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export function insertPartnerMember(
  db: Connection,
  row: Insertable<PartnerMembersTable>,
): Promise<PartnerMember> {
  return db.insertInto('partner_members').values(row).returningAll().executeTakeFirstOrThrow();
}

export function updatePartnerMember(
  db: Connection,
  id: string,
  change: Updateable<PartnerMembersTable>,
): Promise<PartnerMember | undefined> {
  return db
    .updateTable('partner_members')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export function findPartnerMember(db: Connection, id: string): Promise<PartnerMember | undefined> {
  return db.selectFrom('partner_members').selectAll().where('id', '=', id).executeTakeFirst();
}

/** All members of a partner, newest first, at most 1,000. */
export function listPartnerMembers(db: Connection, partnerId: string): Promise<PartnerMember[]> {
  return db
    .selectFrom('partner_members')
    .selectAll()
    .where('partner_id', '=', partnerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1000)
    .execute();
}
