import type {
  ActiveStatus,
  MerchantUser,
  PartnerMember,
} from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import { MEMBER_TABLES, type Membership } from '#storage/repositories/people/memberships.ts';
import type { Operator } from './audit/audited-change.ts';
import { namedBy, tellDeciders } from './mail/notices.ts';

/** What is changed of a user or member. */
export interface MemberChange {
  readonly status?: ActiveStatus | undefined;
  readonly role?: Membership['role'] | undefined;
}

/**
 * Tells those who decide in an account that one of them is about to be deactivated or demoted. Call it in the
 * transaction of the change, before it is made: then whom it is about is told as well.
 * @returns What the audit log records of it, by which the account's changes of the next day are told to them too.
 */
export async function tellOfFormerDecider(
  operator: Operator,
  tx: Connection,
  account: Pick<Membership, 'kind' | 'accountId'>,
  before: Pick<MerchantUser | PartnerMember, 'name' | 'role' | 'status' | 'person_id'>,
  { status, role }: MemberChange,
): Promise<{ readonly was?: string }> {
  const { name, role: was } = before;
  const { decides }: { decides: string } = MEMBER_TABLES[account.kind];
  const decided = was === decides && before.status === 'active' && before.person_id !== null;
  const isDeactivated = status === 'inactive';
  if (!decided || !(isDeactivated || (role !== undefined && role !== decides))) return {};
  const how = isDeactivated ? ('deactivated' as const) : ('demoted' as const);
  const facts = { name, how, by: namedBy(operator) };
  await tellDeciders(tx, account, {
    kind: 'decider-gone',
    facts,
    now: new Date(operator.clock()),
  });
  return { was };
}
