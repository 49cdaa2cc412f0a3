import type { PartnerMember } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { findById, insertInto, listNewest, updateById } from '../rows.ts';

export const insertPartner = insertInto('partners');
export const findPartner = findById('partners');
export const listPartners = listNewest('partners');
export const updatePartner = updateById('partners');
export const insertPartnerMember = insertInto('partner_members');
export const updatePartnerMember = updateById('partner_members');
export const findPartnerMember = findById('partner_members');

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
