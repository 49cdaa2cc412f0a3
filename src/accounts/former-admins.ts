import type {
  ActiveStatus,
  MerchantUser,
  PartnerMember,
} from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import { MEMBER_TABLES, type Membership } from '#storage/repositories/people/memberships.ts';
import type { Operator } from './audit/audited-change.ts';
import { namedBy, notifyAdmins } from './mail/notices.ts';

/** A change of a user or member. */
export interface MemberChange {
  readonly status?: ActiveStatus | undefined;
  readonly role?: Membership['role'] | undefined;
}

/**
 * Notifies those who decide in an account (a merchant's admins, a partner's owners) that one of them is about
 * to be deactivated or demoted. Call it in the transaction of the change, before the change: then that person
 * is notified too.
 * @returns Detail for the audit log, by which that person is found and notified of the account's changes of
 * the next day.
 */
export async function notifyOfFormerAdmin(
  operator: Operator,
  tx: Connection,
  account: Pick<Membership, 'kind' | 'accountId'>,
  before: Pick<MerchantUser | PartnerMember, 'name' | 'role' | 'status' | 'person_id'>,
  { status, role }: MemberChange,
): Promise<{ readonly was?: string }> {
  const { name, role: was } = before;
  const { adminRole }: { adminRole: string } = MEMBER_TABLES[account.kind];
  const decided = was === adminRole && before.status === 'active' && before.person_id !== null;
  const isDeactivated = status === 'inactive';
  if (!decided || !(isDeactivated || (role !== undefined && role !== adminRole))) return {};
  const how = isDeactivated ? ('deactivated' as const) : ('demoted' as const);
  const facts = { name, how, by: namedBy(operator) };
  await notifyAdmins(tx, account, {
    kind: 'decider-gone',
    facts,
    now: new Date(operator.clock()),
  });
  return { was };
}
