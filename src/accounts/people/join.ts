import { newId } from '#crypto/new-id.ts';
import { hashToken } from '#crypto/token.ts';
import type { Connection } from '#storage/database/connection.ts';
import { isUniqueViolation } from '#storage/database/errors.ts';
import type { PanelLink, PanelSession } from '#storage/database/people-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { lockMerchantUser } from '#storage/repositories/accounts/merchant-users.ts';
import { lockPartnerMember } from '#storage/repositories/accounts/partners.ts';
import { endEmailLinks } from '#storage/repositories/people/email-links.ts';
import { takeLink } from '#storage/repositories/people/invitations.ts';
import {
  findInvitedMember,
  findInvitedUser,
  type Invited,
  listMemberships,
  type Membership,
  setPerson,
} from '#storage/repositories/people/memberships.ts';
import {
  findPerson,
  insertPerson,
  lockPerson,
  updatePerson,
} from '#storage/repositories/people/people.ts';
import { deleteSessionsOf, findSessionById } from '#storage/repositories/people/sessions.ts';
import { hasOtherAccount } from '#storage/repositories/people/team.ts';
import { notifyOfJoining } from '../admin-notices.ts';
import { tellPerson } from '../mail/notices.ts';
import { askToConfirm } from './confirm-email.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { findOpenLink } from './invitations.ts';
import {
  checkNewPassword,
  checkPasswordOf,
  type NewApp,
  type NewFactors,
  readEmail,
  sealApp,
} from './new-factors.ts';
import { beginSession, endFormerSession, type Visit } from './panel-sessions.ts';
import { hashPassword, isSamePassword } from './password-hash.ts';
import { takeTurnOfSite } from './password-queue.ts';
import { provePassword } from './proofs.ts';
import { renewRecoveryCodes } from './recovery-codes.ts';
import { FieldRefused, LinkEnded, SessionEnded } from './refusals.ts';
import { auditPerson, rememberDevice } from './sign-in.ts';
import { forgetAllFailures, forgetFailures, forgetPasswordFailures } from './throttle.ts';

/** A person that an invitation has created and signed in. */
interface Joined {
  /** Token of the session, which is complete. */
  readonly token: string;
  readonly device: string;
  /** Shown once. */
  readonly recoveryCodes: readonly string[];
  readonly account: Pick<Invited, 'kind' | 'accountId'>;
}

/** The user or member that an invitation is for; undefined if they are gone or inactive. */
export async function findInvited(
  db: Connection,
  { merchant_user_id: userId, partner_member_id: memberId }: PanelLink,
): Promise<Invited | undefined> {
  if (userId !== null) return findInvitedUser(db, userId);
  return memberId === null ? undefined : findInvitedMember(db, memberId);
}

/**
 * Accepts an invitation as somebody new: creates the person with password and authenticator app, and signs
 * them in. The browser's former session ends. Where mail is sent, a link to the e-mail is to confirm it: the invitation
 * does not, since whoever made it has it in hand and chose the e-mail.
 * @throws FieldRefused for an invalid e-mail or, without mail, one that somebody signs in with, a password that is not
 * accepted and a wrong code; LinkEnded; ApiError E5002 when too many sign in at once.
 */
export async function joinAsNew(
  deps: PeopleDependencies,
  token: string,
  { email: typed, ...factors }: NewFactors & { readonly email: string },
  visit: Visit,
): Promise<Joined> {
  const { db, keyring, clock, sendsMail } = deps;
  const { visitor } = visit;
  const { address } = visitor;
  const email = readEmail(typed);
  const now = new Date(clock());
  const id = newId();
  const app = sealNewApp(deps, id, factors);
  const open = await findOpenLink(db, hashToken(token), now);
  const known = open && (await findInvited(db, open));
  if (open === undefined || known === undefined) throw new LinkEnded();
  const names = [known.name, known.accountName];
  await checkNewPassword(deps, factors.password, 'password', { email, names });
  const password = await takeTurnOfSite(visitor.site, () =>
    hashPassword(deps, id, factors.password),
  );
  try {
    return await transact(db, async tx => {
      await lockInvited(tx, open);
      const invitation = await requireLink(tx, hashToken(token), now);
      const invited = await findInvited(tx, invitation);
      if (invited === undefined) throw new LinkEnded();
      const person = await insertPerson(tx, {
        id,
        name: invited.name,
        email,
        email_confirmed_at: sendsMail ? null : now,
        created_at: now,
        factors_since: now,
        ...password,
        ...app,
      });
      await notifyOfJoining(tx, invited, { by: makerOf(invitation), now });
      await setPerson(tx, invited.kind, invited.memberId, { personId: id, now });
      await forgetFailures(tx, keyring, person, null);
      const recoveryCodes = await renewRecoveryCodes(tx, id);
      const detail = { accountId: invited.accountId, role: invited.role };
      await auditPerson(tx, person, 'person.join', { address, now, detail });
      if (sendsMail) await askToConfirm(tx, deps, { personId: id, email, address }, now);
      await endFormerSession(tx, visit);
      const methods = ['password' as const, 'code' as const];
      return {
        token: await beginSession(tx, person, { methods, secondFactorAt: now, visitor, now }),
        device: await rememberDevice(tx, id, now),
        recoveryCodes,
        account: invited,
      };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new FieldRefused('email', 'email-in-use-sign-in');
  }
}

/**
 * Accepts an invitation as a person who has signed in.
 * @param tokenHash SHA-256 of the invitation's token.
 * @throws FieldRefused if they can enter the account already, LinkEnded, SessionEnded.
 */
export async function joinAsPerson(
  { db, clock }: PeopleDependencies,
  tokenHash: Buffer,
  { id: sessionId, person_id: personId }: Pick<PanelSession, 'id' | 'person_id'>,
  address: string,
): Promise<Invited> {
  const now = new Date(clock());
  try {
    return await transact(db, async tx => {
      const open = await findOpenLink(tx, tokenHash, now);
      if (open === undefined) throw new LinkEnded();
      await lockInvited(tx, open);
      // Lock the person before the link, as `renewFactors` does, which looks for other accounts of the person
      // and ends their sessions.
      const person = await lockPerson(tx, personId);
      if ((await findSessionById(tx, sessionId)) === undefined) throw new SessionEnded();
      const invitation = await requireLink(tx, tokenHash, now);
      const invited = await findInvited(tx, invitation);
      if (invited === undefined || person === undefined || person.is_demo) throw new LinkEnded();
      await notifyOfJoining(tx, invited, { by: makerOf(invitation), now });
      await setPerson(tx, invited.kind, invited.memberId, { personId, now });
      const detail = { accountId: invited.accountId, role: invited.role };
      await auditPerson(tx, person, 'person.join', { address, now, detail });
      return invited;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new FieldRefused('account', 'account-already-open');
  }
}

/**
 * Applies a link: sets a new password, a new authenticator app (with the present password), or both. Ends all
 * sessions of the person, and the browser's session, whosever it is. The person is notified.
 * @returns New recovery codes, shown once; none without a new app.
 * @throws FieldRefused, LinkEnded, ApiError E5002.
 */
export async function renewFactors(
  deps: PeopleDependencies,
  token: string,
  factors: NewFactors,
  visit: Visit,
): Promise<readonly string[]> {
  const { db, keyring, clock, sendsMail } = deps;
  const { visitor } = visit;
  const { password } = factors;
  const now = new Date(clock());
  const open = await findOpenLink(db, hashToken(token), now);
  const owner = open?.person_id == null ? undefined : await findPerson(db, open.person_id);
  if (open === undefined || owner === undefined || owner.is_demo) throw new LinkEnded();
  const renewsPassword = open.purpose !== 'factors';
  const renewsCode = open.purpose !== 'password';
  const app = renewsCode ? sealNewApp(deps, owner.id, factors) : {};
  if (renewsPassword) await checkPasswordOf(deps, owner, password, 'password');
  const renewed = await takeTurnOfSite(visitor.site, async () => {
    if (renewsPassword) {
      const hashed = await hashPassword(deps, owner.id, password);
      // A link by mail keeps the notice of wrong codes: whoever reads the mailbox must not hide that codes
      // were tried.
      return open.by_mail ? hashed : { ...hashed, code_closed_at: null };
    }
    await provePassword(deps, owner, password, visitor);
    return {};
  });
  return transact(db, async tx => {
    // Lock the person first, as a person's own change does before it ends their links.
    const person = await lockPerson(tx, owner.id);
    const link = await requireLink(tx, hashToken(token), now);
    if (person === undefined) throw new LinkEnded();
    if (!renewsPassword && !isSamePassword(person, owner)) throw new LinkEnded();
    // The admins of the account that made the link know it, and the person may have joined another account since.
    const { account_id: accountId } = link;
    if (accountId !== null && (await hasOtherAccount(tx, person.id, accountId))) {
      throw new LinkEnded();
    }
    const times = { factors_since: now, recovered_at: now };
    await updatePerson(tx, person.id, { ...renewed, ...app, ...times });
    await endEmailLinks(tx, person.id, now);
    await deleteSessionsOf(tx, person.id, null);
    await endFormerSession(tx, visit);
    const forget = link.by_mail ? forgetPasswordFailures : forgetAllFailures;
    await forget(tx, keyring, person);
    const recoveryCodes = renewsCode ? await renewRecoveryCodes(tx, person.id) : [];
    const { address } = visitor;
    const detail = { purpose: link.purpose };
    await auditPerson(tx, person, 'person.renew', { address, now, detail });
    const what = renewsPassword ? (renewsCode ? 'both' : 'password') : 'app';
    const facts = { what, withLink: true, at: now.toISOString(), address } as const;
    await tellPerson(tx, person.id, { kind: 'sign-in-changed', facts, now });
    // All their devices may be lost, without which they sign in nowhere until it is confirmed.
    if (sendsMail && person.email_confirmed_at === null) {
      await askToConfirm(tx, deps, { personId: person.id, email: person.email, address }, now);
    }
    return recoveryCodes;
  });
}

/**
 * Signs in with the link that a demo prints. The browser's former session ends.
 * @returns The session's token, and the account to open first: the demo's first shop.
 * @throws LinkEnded
 */
export async function joinDemo(
  { db, clock }: PeopleDependencies,
  token: string,
  visit: Visit,
): Promise<{ readonly token: string; readonly account: Membership | undefined }> {
  const now = new Date(clock());
  return transact(db, async tx => {
    const link = await requireLink(tx, hashToken(token), now);
    const person = link.person_id === null ? undefined : await findPerson(tx, link.person_id);
    if (person === undefined || !person.is_demo) throw new LinkEnded();
    await endFormerSession(tx, visit);
    const methods = ['demo' as const];
    const { visitor } = visit;
    const { address } = visitor;
    await auditPerson(tx, person, 'person.sign-in', { address, now, detail: { methods } });
    const accounts = await listMemberships(tx, person.id);
    const [account] = accounts
      .filter(({ kind }) => kind === 'merchant')
      .toSorted((one, other) => (one.accountId < other.accountId ? -1 : 1));
    const session = { methods, secondFactorAt: now, visitor, now };
    return { token: await beginSession(tx, person, session), account };
  });
}

/** E-mail of whoever made a link in the panel; null for an operator. */
function makerOf({ account_id: accountId, made_by: madeBy }: PanelLink): string | null {
  return accountId === null ? null : madeBy;
}

/**
 * Locks the user or member that an invitation is for, before the person and the link, in the same order as a
 * change of a user or member.
 */
async function lockInvited(
  tx: Connection,
  { merchant_user_id: userId, partner_member_id: memberId }: PanelLink,
): Promise<void> {
  if (userId !== null) await lockMerchantUser(tx, userId);
  if (memberId !== null) await lockPartnerMember(tx, memberId);
}

async function requireLink(tx: Connection, tokenHash: Buffer, now: Date): Promise<PanelLink> {
  const link = await takeLink(tx, tokenHash, now);
  if (link === undefined) throw new LinkEnded();
  return link;
}

function sealNewApp({ keyring, clock }: PeopleDependencies, personId: string, app: NewApp) {
  return sealApp(keyring, personId, app, { now: clock(), field: 'code' });
}
