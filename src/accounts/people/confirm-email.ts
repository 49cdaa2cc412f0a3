import { newId } from '#crypto/new-id.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import type { Connection } from '#storage/database/connection.ts';
import { isUniqueViolation } from '#storage/database/errors.ts';
import type { EmailLink, Person } from '#storage/database/people-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  endEmailLinks,
  findEmailLink,
  hasLinkToOther,
  insertEmailLink,
  takeEmailLink,
} from '#storage/repositories/people/email-links.ts';
import { endLinksOf } from '#storage/repositories/people/invitations.ts';
import { listMemberships } from '#storage/repositories/people/memberships.ts';
import {
  findPerson,
  findPersonByEmail,
  lockPerson,
  updatePerson,
} from '#storage/repositories/people/people.ts';
import { deleteSessionsOf } from '#storage/repositories/people/sessions.ts';
import { type AttemptLimits, countAttempt } from '#storage/repositories/people/sign-in-counters.ts';
import { isSameEmail } from '../input.ts';
import { type Notices, queueLinkMail, tellPerson } from '../mail/notices.ts';
import type { LinkDependencies, PeopleDependencies } from './dependencies.ts';
import { ASKED_LIMITS } from './forgotten-password.ts';
import type { Visit } from './panel-sessions.ts';
import { isSamePassword } from './password-hash.ts';
import { takeTurnOfSite } from './password-queue.ts';
import { provePassword } from './proofs.ts';
import { LinkEnded } from './refusals.ts';
import { auditPerson } from './sign-in.ts';
import { forgetPasswordFailures } from './throttle.ts';

/** How long a link that confirms an e-mail can be used, in milliseconds: a day, since it takes the password as well. */
export const EMAIL_LINK_MS = 24 * 60 * 60_000;

/**
 * Limit of link mails to an e-mail, for all people together. A person gets three, as for a new password; so it takes
 * seven of them to keep somebody else from a link to their own e-mail.
 */
const EMAIL_LIMITS: AttemptLimits = { ...ASKED_LIMITS, failures: 20 };

/**
 * Has a link sent to an e-mail that a person wants to sign in with. Whether somebody else has the e-mail is not looked up
 * here but by the worker, so that the person who asks cannot tell.
 */
export async function askToConfirm(
  tx: Connection,
  { keyring }: Pick<PeopleDependencies, 'keyring'>,
  { personId, email, address }: Notices['email-link'],
  now: Date,
): Promise<void> {
  const purpose = 'link that confirms an e-mail';
  const own = keyring.hash(email.toLowerCase(), `${purpose} of ${personId}`);
  if ((await countAttempt(tx, own, ASKED_LIMITS, now)) === 'refused') return;
  const shared = keyring.hash(email.toLowerCase(), purpose);
  if ((await countAttempt(tx, shared, EMAIL_LIMITS, now)) === 'refused') return;
  await queueLinkMail(tx, { kind: 'email-link', facts: { personId, email, address }, now });
}

/**
 * The same for the e-mail of a person who has not confirmed it and asks for the link again. It takes no proof: a link
 * takes the password, and a mail goes to that e-mail alone.
 * @returns false if it is confirmed by now.
 */
export async function askAgain(
  deps: Pick<PeopleDependencies, 'db' | 'keyring' | 'clock'>,
  personId: string,
  address: string,
): Promise<boolean> {
  const now = new Date(deps.clock());
  return transact(deps.db, async tx => {
    const person = await lockPerson(tx, personId);
    if (person === undefined || person.email_confirmed_at !== null) return false;
    const { email } = person;
    await askToConfirm(tx, deps, { personId, email, address }, now);
    await auditPerson(tx, person, 'person.ask-email', { address, now, detail: { email } });
    return true;
  });
}

/**
 * A link for the mail, or that somebody else has confirmed the e-mail already; and the language of whoever is thought to
 * read it.
 */
interface LinkOrTaken extends Pick<Person, 'language'> {
  readonly token: string | null;
}

/**
 * Makes the link that confirms an e-mail, and ends the person's earlier ones.
 * @returns null if it was asked for too long ago, or something has happened since that ends such links.
 */
export function makeEmailLink(
  { db, clock }: LinkDependencies,
  { personId, email }: Notices['email-link'],
  askedAt: Date,
): Promise<LinkOrTaken | null> {
  const now = new Date(clock());
  if (now.getTime() - askedAt.getTime() > EMAIL_LINK_MS) return Promise.resolve(null);
  return transact(db, async tx => {
    const person = await lockPerson(tx, personId);
    if (person === undefined || (await isOutdated(tx, person, email, askedAt))) return null;
    const holder = await findOtherHolder(tx, personId, email);
    if (holder !== undefined) return { token: null, language: holder.language };
    const token = newToken();
    await endEmailLinks(tx, personId, now);
    await insertEmailLink(tx, {
      id: newId(),
      token_hash: hashToken(token),
      person_id: personId,
      email,
      created_at: askedAt,
      expires_at: new Date(now.getTime() + EMAIL_LINK_MS),
      used_at: null,
    });
    return { token, language: person.language };
  });
}

/** Whether what ends links has happened since one was asked for: the mail may be sent much later. */
async function isOutdated(
  tx: Connection,
  person: Person,
  email: string,
  askedAt: Date,
): Promise<boolean> {
  const { email: present, email_confirmed_at: confirmedAt, factors_since: factorsSince } = person;
  if (factorsSince > askedAt) return true;
  const isSuperseded = confirmedAt === null ? !isSameEmail(present, email) : confirmedAt > askedAt;
  // A mail that is tried again must not end the link to what the person has chosen since.
  if (isSuperseded || (await hasLinkToOther(tx, person.id, email, askedAt))) return true;
  return (await listMemberships(tx, person.id)).length === 0;
}

/**
 * Finds a link that can still be used; undefined for one that was used, has expired or does not exist, and once somebody
 * else has confirmed the e-mail: they read its mail, and must not try passwords of the person with it.
 */
export async function findOpenEmailLink(
  db: Connection,
  token: string,
  now: Date,
): Promise<EmailLink | undefined> {
  const link = await findEmailLink(db, hashToken(token));
  if (link === undefined || link.used_at !== null || link.expires_at <= now) return undefined;
  const holder = await findOtherHolder(db, link.person_id, link.email);
  return holder === undefined ? link : undefined;
}

/** The person other than this one who has confirmed an e-mail, if there is one. */
async function findOtherHolder(
  db: Connection,
  personId: string,
  email: string,
): Promise<Person | undefined> {
  const holder = await findPersonByEmail(db, email);
  return holder?.id === personId ? undefined : holder;
}

/**
 * Confirms an e-mail by the link that was sent to it: from now on its person signs in with it, and nobody else. The
 * password shows that it is that person who reads the mail, and not somebody whose address was mistyped or abused. If
 * they signed in with another e-mail, that one is told, and their sessions and links end but for this session.
 * @returns The e-mail.
 * @throws WrongProof, LinkEnded; ApiError E5002 when too many wait for a turn.
 */
export async function confirmEmail(
  deps: PeopleDependencies,
  token: string,
  password: string,
  { visitor, session }: Visit,
): Promise<string> {
  const { db, keyring, clock } = deps;
  const now = new Date(clock());
  const open = await findOpenEmailLink(db, token, now);
  const owner = open && (await findPerson(db, open.person_id));
  if (owner === undefined) throw new LinkEnded();
  await takeTurnOfSite(visitor.site, () => provePassword(deps, owner, password, visitor));
  try {
    return await transact(db, async tx => {
      const person = await lockPerson(tx, owner.id);
      const link = await takeEmailLink(tx, hashToken(token), now);
      if (link === undefined || person === undefined || !isSamePassword(person, owner)) {
        throw new LinkEnded();
      }
      const { email } = link;
      const { address } = visitor;
      const isChange = !isSameEmail(person.email, email) && person.email_confirmed_at !== null;
      if (isChange) {
        // Before the change, so that the former address is told.
        const facts = { what: 'email', withLink: false, at: now.toISOString(), address } as const;
        await tellPerson(tx, person.id, { kind: 'sign-in-changed', facts, now });
        await deleteSessionsOf(tx, person.id, session?.session.id ?? null);
        const own = { person_id: person.id, merchant_user_id: null, partner_member_id: null };
        await endLinksOf(tx, own, { now });
      }
      const confirmed = await updatePerson(tx, person.id, { email, email_confirmed_at: now });
      await endEmailLinks(tx, person.id, now);
      await forgetPasswordFailures(tx, keyring, confirmed);
      const action = isChange ? 'person.email' : 'person.confirm-email';
      await auditPerson(tx, confirmed, action, { address, now });
      return email;
    });
  } catch (error) {
    // Somebody else has confirmed it since the link was made.
    if (isUniqueViolation(error)) throw new LinkEnded();
    throw error;
  }
}
