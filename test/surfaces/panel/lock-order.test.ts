import { type RawBuilder, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { setPartnerMember } from '#accounts/partners.ts';
import { makeAskedLink } from '#accounts/people/forgotten-password.ts';
import { inviteUser, linkFor } from '#accounts/people/invitations.ts';
import { createUser, setUser } from '#accounts/users.ts';
import { hashToken } from '#crypto/token.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  addSession,
  codeAt,
  PASSWORD,
  submit,
} from '../../helpers/panel.ts';
import { SOON } from '../../helpers/soon.ts';

/** Changes by operators, concurrent with forms of the same person, run one after the other, and never deadlock. */

let service: TestApp;
let operator: Operator;
let merchantId: string;
beforeAll(async () => {
  service = await startTestApp();
  operator = operatorOf(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  merchantId = (await addMerchant(service)).merchant.id;
});

async function waiting(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(service.db);
  return rows.length;
}

/**
 * Lets the first start and wait for rows that this locks, then the second, which waits for one of the two. Then the
 * rows are released.
 */
async function oneBesideTheOther(
  held: RawBuilder<unknown>,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<void> {
  const started: Promise<unknown>[] = [];
  await service.db.transaction().execute(async tx => {
    expect((await held.execute(tx)).rows).not.toEqual([]);
    for (const begin of [first, second]) {
      started.push(begin());
      await expect.poll(waiting, SOON).toBe(started.length);
    }
  });
  await Promise.all(started);
}

const linkOf = (personId: string) =>
  sql`select from panel_links where person_id = ${personId} and used_at is null for update`;
const sessionOf = (cookie: string) =>
  sql`select from panel_sessions where token_hash = ${hashToken(cookie.split('=')[1] ?? '')} for update`;

/** Somebody with a link for a new password, made by an admin who no longer is one. */
async function withLink(kind: 'merchant' | 'partner') {
  const made = { ...operator, actor: 'former@example.com' };
  if (kind === 'merchant') {
    const user = await addMerchantUser(service, merchantId, 'member', { withPassword: true });
    const { userId } = user;
    const { token } = await linkFor({ ...made, accountId: merchantId }, { userId }, 'password');
    return { ...user, id: userId, path: `/panel/join/${token}` };
  }
  const { id: accountId } = (await addPartner(service)).partner;
  const member = await addPartnerUser(service, accountId, 'developer', { withPassword: true });
  const { memberId } = member;
  const { token } = await linkFor({ ...made, accountId }, { memberId }, 'password');
  return { ...member, id: memberId, path: `/panel/join/${token}` };
}

const saved = async (path: string, form: Record<string, string>, visitor?: { cookie: string }) => {
  const response = await submit(service, path, form, visitor);
  expect(response.statusCode).toBe(303);
};

test.each(['merchant', 'partner'] as const)(
  'a %s’s user is deactivated while a link is used',
  async kind => {
    const { personId, id, path } = await withLink(kind);
    const set = kind === 'merchant' ? setUser : setPartnerMember;
    await oneBesideTheOther(
      linkOf(personId),
      () => saved(path, { password: 'another password that is long' }),
      () => set(operator, id, { status: 'inactive' }),
    );
  },
);

test('an admin is deactivated while they change their team, by an operator and by another admin', async () => {
  const [ada, bob, lin] = await Promise.all([
    addMerchantUser(service, merchantId, 'admin'),
    addMerchantUser(service, merchantId, 'admin'),
    addMerchantUser(service, merchantId, 'member'),
  ]);
  const change = async (who: typeof ada, step: string, form: Record<string, string>) => {
    const sent = { ...form, code: codeAt(who.secret, service.clock.now) };
    const path = `/panel/merchants/${merchantId}/settings/team/${step}`;
    return (await submit(service, path, sent, who)).headers.location;
  };
  const endings = [
    () => change(ada, `${bob.userId}/status`, { status: 'inactive' }),
    () => setUser(operator, bob.userId, { status: 'inactive' }),
  ];
  for (const end of endings) {
    let led: string | number | undefined;
    await oneBesideTheOther(
      sql`select from merchants where id = ${merchantId} for update`,
      async () => expect(await end()).toBeTruthy(),
      async () => {
        led = await change(bob, `${lin.userId}/role`, { role: 'admin' });
      },
    );
    // The admin's session has ended meanwhile.
    expect(led).toBe('/panel/sign-in');
    await setUser(operator, bob.userId, { status: 'active' });
    bob.cookie = await addSession(service, bob);
    service.clock.now += 60_000;
  }
});

test('an invited user is deactivated while the invitation is accepted', async () => {
  const invited = { merchantId, name: 'Lin', email: 'lin@example.com', role: 'member' } as const;
  const user = await createUser(operator, invited);
  const { token } = await inviteUser(operator, user.id);
  const person = await addPerson(service, { name: 'Lin' });
  await oneBesideTheOther(
    sql`select from panel_links where merchant_user_id = ${user.id} for update`,
    () => saved(`/panel/join/${token}/accept`, {}, person),
    () => setUser(operator, user.id, { status: 'inactive' }),
  );
});

test('an invited user is deactivated while they are invited again', async () => {
  const invited = { merchantId, name: 'Lin', email: 'lin@example.com', role: 'member' } as const;
  const user = await createUser(operator, invited);
  await inviteUser(operator, user.id);
  await oneBesideTheOther(
    sql`select from panel_links where merchant_user_id = ${user.id} for update`,
    () => inviteUser(operator, user.id),
    () => setUser(operator, user.id, { status: 'inactive' }),
  );
});

test.each(['an operator makes', 'by mail they get'])(
  '%s a link while they change their e-mail',
  async how => {
    const person = await withLink('merchant');
    const { email, id: userId, cookie, secret } = person;
    const other = await addSession(service, person);
    const form = {
      email: `new-${email}`,
      password: PASSWORD,
      code: codeAt(secret, service.clock.now),
    };
    const asked = () =>
      makeAskedLink(service, { email, address: '192.0.2.1' }, new Date(service.clock()));
    const isByMail = how.startsWith('by mail');
    if (isByMail) await asked();
    await oneBesideTheOther(
      sessionOf(other),
      () => saved('/panel/profile/email', form, { cookie }),
      () => (isByMail ? asked() : linkFor(operator, { userId }, 'password')),
    );
  },
);
