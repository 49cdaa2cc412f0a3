import { newId } from '#crypto/new-id.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { LinkPurpose, PanelLink } from '#storage/database/people-tables.ts';
import {
  findMerchantUser,
  lockMerchantUser,
} from '#storage/repositories/accounts/merchant-users.ts';
import { findPartnerMember, lockPartnerMember } from '#storage/repositories/accounts/partners.ts';
import {
  endLinksOf,
  findLink,
  insertLink,
  type LinkSubject,
} from '#storage/repositories/people/invitations.ts';
import { lockPerson } from '#storage/repositories/people/people.ts';
import { audited, OperationRefused, type Operator } from '../audit/audited-change.ts';
import { namedBy, tellPerson } from '../mail/notices.ts';

/** Path of a link's page, without the token at its end. */
export const JOIN_PATH = '/panel/join';

const HOUR_MS = 60 * 60_000;
/** How long a link can be used, in milliseconds. */
export const LINK_LIFETIMES: Readonly<Record<LinkPurpose, number>> = {
  invitation: 72 * HOUR_MS,
  password: HOUR_MS,
  factors: HOUR_MS,
  both: HOUR_MS,
  demo: 24 * HOUR_MS,
};

/** A new link. Its token is shown once. */
export interface NewLink {
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Makes an invitation: its link lets a person sign in as this user of a merchant.
 * @throws OperationRefused for an unknown or inactive user, and for one that somebody already signs in as.
 */
export function inviteUser(operator: Operator, userId: string): Promise<NewLink> {
  return invite(operator, 'user', userId);
}

/** The same for a member of a partner. */
export function inviteMember(operator: Operator, memberId: string): Promise<NewLink> {
  return invite(operator, 'member', memberId);
}

function invite(operator: Operator, kind: 'user' | 'member', id: string): Promise<NewLink> {
  return audited(operator, `${kind}.invite`, async (tx, now) => {
    // Locked before the links, in the same order as a deactivation.
    const owner = await { user: lockMerchantUser, member: lockPartnerMember }[kind](tx, id);
    if (owner === undefined) throw noOwner(kind, id);
    const { status, person_id: personId } = owner;
    if (status !== 'active') throw new OperationRefused('invited-inactive');
    if (personId !== null) throw new OperationRefused('invited-already-joined');
    const invited = { user: { merchant_user_id: id }, member: { partner_member_id: id } }[kind];
    const subject = { ...invited, account_id: operator.accountId ?? null };
    const invitation = await makeLink(tx, 'invitation', subject, operator.actor, now);
    const detail = { expiresAt: invitation.expiresAt };
    return { result: invitation, objectId: id, detail };
  });
}

/**
 * Makes a link with which a person chooses a new password, sets up a new authenticator app, or both. The
 * person is notified.
 * @throws OperationRefused for an unknown user or member, and for one that nobody signs in as.
 */
export function linkFor(
  operator: Operator,
  owner: { readonly userId: string } | { readonly memberId: string },
  purpose: Extract<LinkPurpose, 'password' | 'factors' | 'both'>,
): Promise<NewLink> {
  const [kind, id] =
    'userId' in owner ? (['user', owner.userId] as const) : (['member', owner.memberId] as const);
  return audited(operator, `${kind}.link`, async (tx, now) => {
    const owner = await { user: findMerchantUser, member: findPartnerMember }[kind](tx, id);
    if (owner === undefined) throw noOwner(kind, id);
    const { person_id: personId } = owner;
    if (personId === null) throw new OperationRefused('nobody-joined');
    const person = await lockPerson(tx, personId);
    if (person?.is_demo === true) throw new OperationRefused('link-for-demo');
    const subject = { person_id: personId, account_id: operator.accountId ?? null };
    const link = await makeLink(tx, purpose, subject, operator.actor, now);
    const facts = { at: now.toISOString(), purpose, by: namedBy(operator) };
    await tellPerson(tx, personId, { kind: 'link-made', facts, now });
    return { result: link, objectId: id, detail: { purpose, expiresAt: link.expiresAt } };
  });
}

function noOwner(kind: 'user' | 'member', id: string): OperationRefused {
  return kind === 'user'
    ? new OperationRefused('user-unknown', { userId: id })
    : new OperationRefused('partner-member-unknown', { memberId: id });
}

/** Makes a link, and ends the earlier ones of its subject. A link by mail ends only earlier links by mail. */
export async function makeLink(
  tx: Connection,
  purpose: LinkPurpose,
  {
    account_id = null,
    by_mail = false,
    ...who
  }: Partial<LinkSubject & Pick<PanelLink, 'account_id' | 'by_mail'>>,
  madeBy: string,
  now: Date,
): Promise<NewLink> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + LINK_LIFETIMES[purpose]);
  const subject = { person_id: null, merchant_user_id: null, partner_member_id: null, ...who };
  await endLinksOf(tx, subject, { now, byMailAlone: by_mail });
  await insertLink(tx, {
    id: newId(),
    token_hash: hashToken(token),
    purpose,
    ...subject,
    made_by: madeBy,
    account_id,
    by_mail,
    created_at: now,
    expires_at: expiresAt,
    used_at: null,
  });
  return { token, expiresAt };
}

/**
 * Finds a link that can still be used; undefined for one that was used, has expired or does not exist.
 * @param tokenHash SHA-256 of its token.
 */
export async function findOpenLink(
  db: Connection,
  tokenHash: Buffer,
  now: Date,
): Promise<PanelLink | undefined> {
  const link = await findLink(db, tokenHash);
  return link !== undefined && link.used_at === null && link.expires_at > now ? link : undefined;
}
