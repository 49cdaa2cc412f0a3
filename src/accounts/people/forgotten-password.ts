import { newId } from '#crypto/new-id.ts';
import type { Person } from '#storage/database/people-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import { findPersonByEmail, lockPerson } from '#storage/repositories/people/people.ts';
import { type AttemptLimits, countAttempt } from '#storage/repositories/people/sign-in-counters.ts';
import { parseEmail } from '../input.ts';
import { type Notices, queueLinkMail } from '../mail/notices.ts';
import type { LinkDependencies } from './dependencies.ts';
import { LINK_LIFETIMES, makeLink } from './invitations.ts';

const HOUR_MS = 60 * 60_000;

/** Limit of link mails to an e-mail, whoever asks: after three within an hour of each other, none for an hour. */
export const ASKED_LIMITS: AttemptLimits = {
  failures: 3,
  windowMs: HOUR_MS,
  // The maximum of the column: nobody is refused for good.
  inRow: 2 ** 31 - 1,
};

/**
 * Takes the e-mail of somebody who wants a link for a new password. The worker checks whether anybody signs
 * in with it; here every e-mail is handled alike and in the same time.
 */
export async function askForLink(
  { db, keyring, clock }: LinkDependencies,
  typed: string,
  address: string,
): Promise<void> {
  const email = parseEmail(typed.trim());
  if (email === undefined) return;
  const now = new Date(clock());
  const key = keyring.hash(email.toLowerCase(), 'link for a new password');
  if ((await countAttempt(db, key, ASKED_LIMITS, now)) === 'refused') return;
  await queueLinkMail(db, { kind: 'password-link', facts: { email, address }, now });
}

/** A link for the mail, and whom it goes to. */
interface AskedLink {
  readonly token: string;
  readonly person: Pick<Person, 'name' | 'email' | 'language'>;
}

/**
 * Makes the link that somebody has asked for, for a new password only. It ends the link asked for before, but
 * none that others made for the person: anybody can ask.
 * @returns null if nobody signs in with the e-mail, or it was asked for too long ago.
 */
export function makeAskedLink(
  { db, clock }: LinkDependencies,
  { email, address }: Notices['password-link'],
  askedAt: Date,
): Promise<AskedLink | null> {
  const now = new Date(clock());
  if (now.getTime() - askedAt.getTime() > LINK_LIFETIMES.password) return Promise.resolve(null);
  return transact(db, async tx => {
    const found = await findPersonByEmail(tx, email);
    const person = found && (await lockPerson(tx, found.id));
    if (person === undefined || person.email !== found?.email) return null;
    if (person.is_demo || person.password_hash === null) return null;
    const subject = { person_id: person.id, by_mail: true };
    const { token, expiresAt } = await makeLink(tx, 'password', subject, person.email, now);
    await insertAuditEntry(tx, {
      id: newId(),
      actor: 'service',
      action: 'person.link',
      objectType: 'person',
      objectId: person.id,
      personId: person.id,
      origin: 'panel',
      address,
      now,
      detail: { purpose: 'password', expiresAt },
    });
    return { token, person };
  });
}
