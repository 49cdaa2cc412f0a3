import type {
  ActiveStatus,
  MerchantUser,
  PartnerMember,
} from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import { MEMBER_TABLES, type Membership } from '#storage/repositories/people/memberships.ts';
import type { Operator } from './audit/audited-change.ts';
import { namedBy, notifyAdmins } from './mail/notices.ts';

type Account = Pick<Membership, 'kind' | 'accountId'>;

/** A change of a user or member. */
interface MemberChange {
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
  account: Account,
  before: Pick<MerchantUser | PartnerMember, 'name' | 'role' | 'status' | 'person_id'>,
  { status, role }: MemberChange,
): Promise<{ readonly was?: string }> {
  const { name, role: was } = before;
  const { adminRole } = MEMBER_TABLES[account.kind];
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

/**
 * Notifies those who decide in an account (a merchant's admins, a partner's owners) that a user or member is about to
 * become one of them. Call it in the transaction of the change, before the change: then the new one is not notified.
 */
export async function notifyOfNewAdmin(
  operator: Operator,
  tx: Connection,
  account: Account,
  before: Pick<MerchantUser | PartnerMember, 'name' | 'role' | 'status' | 'person_id'>,
  { status = before.status, role = before.role }: MemberChange,
): Promise<void> {
  const { adminRole } = MEMBER_TABLES[account.kind];
  const decided = before.role === adminRole && before.status === 'active';
  if (before.person_id === null || decided || role !== adminRole || status !== 'active') return;
  const how = before.role === adminRole ? ('activated' as const) : ('made' as const);
  const facts = { name: before.name, how, by: namedBy(operator) };
  await notifyAdmins(tx, account, {
    kind: 'decider-new',
    facts,
    now: new Date(operator.clock()),
  });
}

/**
 * The same for somebody who is about to accept an invitation.
 * @param by E-mail of whoever made the invitation; null for an operator.
 */
export async function notifyOfJoining(
  tx: Connection,
  invited: Account & Pick<Membership, 'name' | 'role'>,
  { by, now }: { readonly by: string | null; readonly now: Date },
): Promise<void> {
  const { adminRole } = MEMBER_TABLES[invited.kind];
  if (invited.role !== adminRole) return;
  const facts = { name: invited.name, how: 'joined' as const, by };
  await notifyAdmins(tx, invited, { kind: 'decider-new', facts, now });
}
