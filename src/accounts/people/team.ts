import type { ActiveStatus, PartnerRole, UserRole } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { LinkPurpose } from '#storage/database/people-tables.ts';
import { lockMerchant } from '#storage/repositories/accounts/merchants.ts';
import { lockPartner } from '#storage/repositories/accounts/partners.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import {
  findTeamMember,
  hasAdmin,
  hasEmail,
  hasOtherAccount,
  isActiveAdmin,
  type TeamMember,
} from '#storage/repositories/people/team.ts';
import { OperationRefused, type Operator } from '../audit/audited-change.ts';
import { createPartnerMember, setPartnerMember } from '../partners.ts';
import { createUser, setUser } from '../users.ts';
import { inviteMember, inviteUser, linkFor, type NewLink } from './invitations.ts';
import { FieldRefused } from './refusals.ts';

// Changes that the admins of a merchant, or the owners of a partner, make to their own team. `operator.db` is
// an open transaction in which the account is locked: of two concurrent changes the second sees the first.

/** The account whose team it is. */
type TeamAccount = Pick<Membership, 'kind' | 'accountId'>;

/** What somebody is invited with. */
interface Newcomer {
  readonly name: string;
  readonly email: string;
  readonly role: Membership['role'];
}

/**
 * Adds somebody, and makes the link with which they join.
 * @throws FieldRefused for an e-mail that is in the team already, and for a role of the other kind of
 * account; OperationRefused if the operator is no admin or owner.
 */
export async function addToTeam(
  operator: Operator,
  account: TeamAccount,
  newcomer: Newcomer,
): Promise<NewLink> {
  const { kind, accountId } = account;
  await enterTeam(operator, account);
  if (await hasEmail(operator.db, kind, accountId, newcomer.email)) {
    throw new FieldRefused('email', 'email-in-team');
  }
  if (kind === 'merchant') {
    const role = userRole(newcomer.role);
    const { id } = await createUser(operator, { ...newcomer, role, merchantId: accountId });
    return inviteUser(operator, id);
  }
  const role = partnerRole(newcomer.role);
  const { id } = await createPartnerMember(operator, { ...newcomer, role, partnerId: accountId });
  return inviteMember(operator, id);
}

/**
 * Changes the role of a team member, or makes them inactive or active.
 * @throws OperationRefused if the operator is no admin or owner, if the team would have none left, and for an
 * ID outside of the team; FieldRefused for a role of the other kind of account.
 */
export async function changeMember(
  operator: Operator,
  account: TeamAccount,
  memberId: string,
  change: { readonly role: Membership['role'] } | { readonly status: ActiveStatus },
): Promise<void> {
  const { kind, accountId } = account;
  await enterTeam(operator, account);
  await requireMember(operator, account, memberId);
  if (kind === 'merchant') {
    await setUser(
      operator,
      memberId,
      'role' in change ? { role: userRole(change.role) } : { status: change.status },
    );
  } else {
    await setPartnerMember(
      operator,
      memberId,
      'role' in change ? { role: partnerRole(change.role) } : { status: change.status },
    );
  }
  if (await hasAdmin(operator.db, kind, accountId)) return;
  throw new OperationRefused(kind === 'merchant' ? 'last-admin' : 'last-owner');
}

/**
 * Makes a link for a team member: an invitation until somebody has joined with it, then one for new factors.
 * @throws OperationRefused if the operator is no admin or owner, for the operator's own ID, for an ID outside of the
 * team, for an inactive member, for a person who has another account, and as `inviteUser` and `linkFor` do.
 */
export async function renewLink(
  operator: Operator,
  account: TeamAccount,
  memberId: string,
  purpose: Extract<LinkPurpose, 'password' | 'factors' | 'both'>,
): Promise<NewLink> {
  const { kind, accountId } = account;
  const { db } = operator;
  await enterTeam(operator, account);
  const { name, personId, status } = await requireMember(operator, account, memberId);
  if (personId === null) {
    return kind === 'merchant' ? inviteUser(operator, memberId) : inviteMember(operator, memberId);
  }
  if (status !== 'active') throw new OperationRefused('team-member-inactive', { name });
  if (personId === operator.personId) {
    // Making a link takes only a code; the profile asks for the password too.
    throw new OperationRefused('link-for-oneself');
  }
  if (await hasOtherAccount(db, personId, accountId)) {
    throw new OperationRefused('link-opens-other-account', { name });
  }
  const owner = kind === 'merchant' ? { userId: memberId } : { memberId };
  return linkFor(operator, owner, purpose);
}

/** Locks an account until the transaction ends. */
export function lockAccount(db: Connection, { kind, accountId }: TeamAccount): Promise<unknown> {
  return { merchant: lockMerchant, partner: lockPartner }[kind](db, accountId);
}

/** Locks the account, and checks that the operator still decides there. */
async function enterTeam(
  { db, personId }: Operator,
  { kind, accountId }: TeamAccount,
): Promise<void> {
  await lockAccount(db, { kind, accountId });
  if (personId !== undefined && (await isActiveAdmin(db, kind, accountId, personId))) return;
  throw new OperationRefused(kind === 'merchant' ? 'admin-needed' : 'owner-needed');
}

async function requireMember(
  { db, clock }: Operator,
  { kind, accountId }: TeamAccount,
  id: string,
): Promise<TeamMember> {
  const member = await findTeamMember(db, kind, accountId, { id, now: new Date(clock()) });
  if (member === undefined) throw new OperationRefused('team-member-unknown', { memberId: id });
  return member;
}

function userRole(role: Membership['role']): UserRole {
  if (role === 'admin' || role === 'member') return role;
  throw new FieldRefused('role', 'role-not-of-merchant');
}

function partnerRole(role: Membership['role']): PartnerRole {
  if (role === 'owner' || role === 'developer') return role;
  throw new FieldRefused('role', 'role-not-of-partner');
}
