import { newId } from '#crypto/new-id.ts';
import type {
  ActiveStatus,
  Partner,
  PartnerMember,
  PartnerRole,
} from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  findPartner,
  findPartnerMember,
  insertPartner,
  insertPartnerMember,
  lockPartner,
  lockPartnerMember,
  updatePartner,
  updatePartnerMember,
} from '#storage/repositories/accounts/partners.ts';
import { lockPerson } from '#storage/repositories/people/people.ts';
import { endAccess, endLinksOfFormerAdmins } from '#storage/repositories/people/team.ts';
import { notifyOfFormerAdmin, notifyOfNewAdmin } from './admin-notices.ts';
import { audited, columnsToSet, OperationRefused, type Operator } from './audit/audited-change.ts';

/** @param input.selfService Whether the partner's merchants may use API keys of their own. */
export function createPartner(
  operator: Operator,
  input: { name: string; selfService: boolean },
): Promise<Partner> {
  return audited(operator, 'partner.create', async (tx, now) => {
    const partner = await insertPartner(tx, {
      id: newId(),
      name: input.name,
      self_service_api_payments: input.selfService,
      created_at: now,
    });
    return { result: partner, objectId: partner.id, detail: { ...input } };
  });
}

/** @throws OperationRefused for an unknown partner, or when nothing is to be set. */
export function setPartner(
  operator: Operator,
  id: string,
  change: { status?: ActiveStatus | undefined; selfService?: boolean | undefined },
): Promise<Partner> {
  const columns = columnsToSet({
    status: change.status,
    self_service_api_payments: change.selfService,
  });
  return audited(operator, 'partner.set', async tx => {
    const partner = await updatePartner(tx, id, columns);
    if (partner === undefined) throw noPartner(id);
    return { result: partner, objectId: id, detail: columns };
  });
}

/** @throws OperationRefused for an unknown partner. */
export function createPartnerMember(
  operator: Operator,
  input: { partnerId: string; name: string; email: string; role: PartnerRole },
): Promise<PartnerMember> {
  return audited(operator, 'member.create', async (tx, now) => {
    await requirePartner(tx, input.partnerId);
    const member = await insertPartnerMember(tx, {
      id: newId(),
      partner_id: input.partnerId,
      name: input.name,
      email: input.email,
      role: input.role,
      created_at: now,
    });
    return { result: member, objectId: member.id, detail: { ...input } };
  });
}

/**
 * Changes a member, and so what the member's keys may do from the next request on. A member that becomes inactive
 * loses the open invitation, and the person's sessions end. The links that the person made for others end too, also
 * when the person is no longer an owner. The owners are notified when somebody becomes an owner or stops being one.
 * @throws OperationRefused for an unknown member, or when nothing is to be set.
 */
export function setPartnerMember(
  operator: Operator,
  id: string,
  change: { status?: ActiveStatus | undefined; role?: PartnerRole | undefined },
): Promise<PartnerMember> {
  const columns = columnsToSet({ status: change.status, role: change.role });
  return audited(operator, 'member.set', async (tx, now) => {
    const before = await findPartnerMember(tx, id);
    if (before === undefined) throw noMember(id);
    await lockPartner(tx, before.partner_id);
    const former = await lockPartnerMember(tx, id);
    if (former === undefined) throw noMember(id);
    if (former.person_id !== null) await lockPerson(tx, former.person_id);
    const account = { kind: 'partner', accountId: former.partner_id } as const;
    const told = await notifyOfFormerAdmin(operator, tx, account, former, change);
    await notifyOfNewAdmin(operator, tx, account, former, change);
    const member = await updatePartnerMember(tx, id, columns);
    if (member === undefined) throw noMember(id);
    if (change.status === 'inactive') await endAccess(tx, 'partner', member, now);
    await endLinksOfFormerAdmins(tx, 'partner', member.partner_id, now);
    return { result: member, objectId: id, detail: { ...columns, ...told } };
  });
}

/** @throws OperationRefused for an unknown partner. */
export async function requirePartner(db: Connection, id: string): Promise<Partner> {
  const partner = await findPartner(db, id);
  if (partner === undefined) throw noPartner(id);
  return partner;
}

function noMember(id: string): OperationRefused {
  return new OperationRefused('partner-member-unknown', { memberId: id });
}

function noPartner(id: string): OperationRefused {
  return new OperationRefused('partner-unknown', { partnerId: id });
}
