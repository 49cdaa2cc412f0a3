import type { Operator } from '#accounts/audit/audited-change.ts';
import { createPartnerMember } from '#accounts/partners.ts';
import { JOIN_PATH, makeLink } from '#accounts/people/invitations.ts';
import { createUser } from '#accounts/users.ts';
import { newId } from '#crypto/new-id.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Person } from '#storage/database/people-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { findMembership, setPerson } from '#storage/repositories/people/memberships.ts';
import { findPersonByEmail, insertPerson } from '#storage/repositories/people/people.ts';
import { type DemoCredentials, readDemo } from './demo-credentials.ts';

const NAME = 'Demo Admin';
const EMAIL = 'demo@merchant.example';

/**
 * Makes a link that signs in to the panel of the demo without a password: as admin of its shops and owner of
 * its partner. It works once, for 24 hours; the previous link ends.
 * @returns The path below the panel's base URL; undefined without a demo.
 */
export async function makeDemoLink(
  dataDirectory: string,
  operator: Operator & { readonly db: Database },
): Promise<string | undefined> {
  const demo = await readDemo(dataDirectory);
  if (demo === undefined) return undefined;
  const token = await transact(operator.db, async tx => {
    const person = await findOrMakePerson(tx, operator);
    await enterAll({ ...operator, db: tx }, person, demo);
    const subject = { person_id: person.id, merchant_user_id: null, partner_member_id: null };
    const now = new Date(operator.clock());
    return (await makeLink(tx, 'demo', subject, operator.actor, now)).token;
  });
  return `${JOIN_PATH}/${token}`;
}

async function findOrMakePerson(tx: Connection, { clock }: Operator): Promise<Person> {
  const known = await findPersonByEmail(tx, EMAIL);
  if (known !== undefined) return known;
  return insertPerson(tx, {
    id: newId(),
    name: NAME,
    email: EMAIL,
    is_demo: true,
    created_at: new Date(clock()),
  });
}

/** Makes the person admin or owner of the accounts that they cannot enter yet. */
async function enterAll(
  operator: Operator,
  { id }: Person,
  { merchant, us, linked, partner }: DemoCredentials,
): Promise<void> {
  const { db, clock } = operator;
  const entry = { personId: id, now: new Date(clock()) };
  const own = { name: NAME, email: EMAIL };
  for (const { merchantId } of [merchant, us, linked]) {
    if (merchantId === undefined) continue;
    if ((await findMembership(db, id, 'merchant', merchantId)) !== undefined) continue;
    const user = await createUser(operator, { ...own, merchantId, role: 'admin' });
    await setPerson(db, 'merchant', user.id, entry);
  }
  const { partnerId } = partner;
  if (partnerId === undefined) return;
  if ((await findMembership(db, id, 'partner', partnerId)) !== undefined) return;
  const member = await createPartnerMember(operator, { ...own, partnerId, role: 'owner' });
  await setPerson(db, 'partner', member.id, entry);
}
