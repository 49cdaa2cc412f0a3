import { audited, OperationRefused, type Operator } from '../../audit/audited-change.ts';
import { newId } from '../../crypto/new-id.ts';
import { hashToken, newToken } from '../../crypto/token.ts';
import type { Connection } from '../../database/connection.ts';
import type { LinkPurpose, PanelLink } from '../../database/people-tables.ts';
import { findMerchantUser } from '../../repositories/accounts/merchant-users.ts';
import { findPartnerMember } from '../../repositories/accounts/partners.ts';
import {
  endLinksOf,
  findLink,
  insertLink,
  type LinkSubject,
} from '../../repositories/people/invitations.ts';
import { findPerson } from '../../repositories/people/people.ts';

/** Path of the page that a link leads to; its token follows. */
export const JOIN_PATH = '/panel/join';

const HOUR_MS = 60 * 60_000;
/** How long a link can be used, in milliseconds. */
const LIFETIMES: Readonly<Record<LinkPurpose, number>> = {
  invitation: 72 * HOUR_MS,
  password: HOUR_MS,
  factors: HOUR_MS,
  both: HOUR_MS,
  demo: 24 * HOUR_MS,
};

/** A link that was made. The token is shown once. */
export interface NewLink {
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Makes a link that lets whoever has it become a user of a merchant, and sign in.
 * @throws OperationRefused for an unknown or inactive user, and for one that somebody signs in as already.
 */
export function inviteUser(operator: Operator, userId: string): Promise<NewLink> {
  return audited(operator, 'user.invite', async (tx, now) => {
    const user = await findMerchantUser(tx, userId);
    if (user === undefined) throw new OperationRefused(`There is no user ${userId}.`);
    requireInvitable(user);
    const subject = { merchant_user_id: userId, partner_member_id: null, person_id: null };
    const link = await makeLink(tx, 'invitation', subject, operator.actor, now);
    return { result: link, objectId: userId, detail: { expiresAt: link.expiresAt } };
  });
}

/** The same for a member of a partner. */
export function inviteMember(operator: Operator, memberId: string): Promise<NewLink> {
  return audited(operator, 'member.invite', async (tx, now) => {
    const member = await findPartnerMember(tx, memberId);
    if (member === undefined) throw new OperationRefused(`There is no partner member ${memberId}.`);
    requireInvitable(member);
    const subject = { merchant_user_id: null, partner_member_id: memberId, person_id: null };
    const link = await makeLink(tx, 'invitation', subject, operator.actor, now);
    return { result: link, objectId: memberId, detail: { expiresAt: link.expiresAt } };
  });
}

function requireInvitable({ status, person_id }: { status: string; person_id: string | null }) {
  if (status !== 'active') throw new OperationRefused('Nobody signs in as an inactive user.');
  if (person_id !== null) {
    throw new OperationRefused(
      'Somebody signs in as this user already. Make a link for a new password or authenticator app with mp user link.',
    );
  }
}

/**
 * Makes a link with which a person chooses a new password, sets up a new authenticator app, or both.
 * @throws OperationRefused for a user as whom nobody signs in.
 */
export function linkFor(
  operator: Operator,
  owner: { readonly userId: string } | { readonly memberId: string },
  purpose: Extract<LinkPurpose, 'password' | 'factors' | 'both'>,
): Promise<NewLink> {
  const [action, id] =
    'userId' in owner ? ['user.link', owner.userId] : ['member.link', owner.memberId];
  return audited(operator, action, async (tx, now) => {
    const found = await ('userId' in owner
      ? findMerchantUser(tx, owner.userId)
      : findPartnerMember(tx, owner.memberId));
    if (found === undefined) throw new OperationRefused(`There is no user or member ${id}.`);
    if (found.person_id === null) {
      throw new OperationRefused('Nobody signs in as this user yet; invite somebody first.');
    }
    const person = await findPerson(tx, found.person_id);
    if (person?.is_demo === true) {
      throw new OperationRefused('Whoever plays with the demo has nothing to sign in with.');
    }
    const subject = {
      person_id: found.person_id,
      merchant_user_id: null,
      partner_member_id: null,
    };
    const link = await makeLink(tx, purpose, subject, operator.actor, now);
    return { result: link, objectId: id, detail: { purpose, expiresAt: link.expiresAt } };
  });
}

/** Makes a link; those that its subject had before end. */
export async function makeLink(
  tx: Connection,
  purpose: LinkPurpose,
  subject: LinkSubject,
  madeBy: string,
  now: Date,
): Promise<NewLink> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + LIFETIMES[purpose]);
  await endLinksOf(tx, subject, now);
  await insertLink(tx, {
    id: newId(),
    token_hash: hashToken(token),
    purpose,
    ...subject,
    made_by: madeBy,
    created_at: now,
    expires_at: expiresAt,
    used_at: null,
  });
  return { token, expiresAt };
}

/**
 * A link that can still be used; undefined for one that was used, has expired or does not exist.
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
