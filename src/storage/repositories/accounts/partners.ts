import {
  findById,
  insertInto,
  listBy,
  listNewest,
  lockById,
  NEWEST_FIRST,
  updateById,
} from '../rows.ts';

export const insertPartner = insertInto('partners');
export const findPartner = findById('partners');
export const lockPartner = lockById('partners', 'forNoKeyUpdate');
export const listPartners = listNewest('partners');
export const updatePartner = updateById('partners');
export const insertPartnerMember = insertInto('partner_members');
export const lockPartnerMember = lockById('partner_members');
export const updatePartnerMember = updateById('partner_members');
export const findPartnerMember = findById('partner_members');

/** All members of a partner, newest first, at most 1,000. */
export const listPartnerMembers = listBy('partner_members', 'partner_id', NEWEST_FIRST, 1000);
