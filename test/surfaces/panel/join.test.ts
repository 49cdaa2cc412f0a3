import { sql } from 'kysely';
import { TOTP, URI } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { inviteMember, inviteUser, linkFor, makeLink } from '#accounts/people/invitations.ts';
import { createUser } from '#accounts/users.ts';
import type { MerchantUser } from '#storage/database/account-tables.ts';
import { listMemberships } from '#storage/repositories/people/memberships.ts';
import { findPerson, lockPerson } from '#storage/repositories/people/people.ts';
import { deleteSessionsOf } from '#storage/repositories/people/sessions.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPerson,
  codeAt,
  cookieOf,
  follow,
  open,
  PASSWORD,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { SOON } from '../../helpers/soon.ts';

const HOUR_MS = 60 * 60_000;

let service: TestApp;
let merchantId: string;
let user: MerchantUser;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
  merchantId = (await addMerchant(service, { name: 'Blue Coffee' })).merchant.id;
});
afterAll(() => service.close());
beforeEach(async () => {
  serial += 1;
  const email = `grace${serial}@example.com`;
  user = await createUser(operatorOf(service), { merchantId, name: 'Grace', email, role: 'admin' });
});

const invite = async () => `/panel/join/${(await inviteUser(operatorOf(service), user.id)).token}`;

/** The fields that a page's form would send. */
async function formOf(path: string) {
  const page = await open(service, path);
  const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
  return { email: user.email, password: PASSWORD, secret, code: codeAt(secret, service.clock.now) };
}

test('an invitation makes a person with password, app and recovery codes', async () => {
  const path = await invite();
  const page = await open(service, path);
  expect(textOf(page)).toContain('Blue Coffee invites Grace to its panel as a Merchant Admin.');
  const joined = await submit(service, path, await formOf(path));
  expect(joined.statusCode).toBe(200);
  expect(joined.body.match(/[A-Z2-7]{4}(-[A-Z2-7]{4}){5}/g)).toHaveLength(8);
  const cookie = cookieOf(joined);
  expect((await open(service, `/panel/merchants/${merchantId}`, { cookie })).statusCode).toBe(200);
  expect((await open(service, path)).statusCode).toBe(404);
});

test('an app on the same phone opens by a link, and the key can be copied', async () => {
  const { body } = await open(service, await invite());
  const secret = /name="secret" value="(\w+)"/.exec(body)?.[1] ?? '';
  const [, href = ''] = /<a href="(otpauth:[^"]+)">/.exec(body) ?? [];
  const app = URI.parse(href.replaceAll('&amp;', '&'));
  expect(app).toBeInstanceOf(TOTP);
  expect(app).toMatchObject({ label: user.email, issuer: 'External Payments' });
  expect(app.secret.base32).toBe(secret);
  expect(app.generate({ timestamp: service.clock.now })).toBe(codeAt(secret, service.clock.now));
  const [, key = ''] = /<p id="app-key">(.*?)<\/p>/.exec(body) ?? [];
  expect(key.replaceAll(/<[^>]*>/g, '')).toBe(secret);
  expect(body).toContain('data-copy="app-key"');
});

test('a recovery code replaces the app, once', async () => {
  const path = await invite();
  const joined = await submit(service, path, await formOf(path));
  const [code = ''] = joined.body.match(/[A-Z2-7]{4}(-[A-Z2-7]{4}){5}/g) ?? [];
  const signIn = async (text: string) => {
    const form = { email: user.email, password: PASSWORD };
    const half = await submit(service, '/panel/sign-in', form);
    return submit(service, '/panel/sign-in/code', { code: text }, { cookie: cookieOf(half) });
  };
  expect((await signIn(code.toLowerCase().replaceAll('-', ' '))).statusCode).toBe(303);
  expect((await signIn(code)).statusCode).toBe(422);
});

test('of two concurrent uses of one link, one succeeds', async () => {
  const path = await invite();
  const form = await formOf(path);
  const answers = await Promise.all([
    submit(service, path, form),
    submit(service, path, { ...form, email: `other${serial}@example.com` }),
  ]);
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 404]);
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from people where email like ${`%${serial}@example.com`}`.execute(
    service.db,
  );
  expect(rows[0]?.n).toBe(1);
});

test.each([
  ['a short password', { password: 'too short' }, 'at least 15 characters'],
  ['a name as password', { password: 'bluecoffeebluecoffee' }, 'anybody could try'],
  ['one character again and again', { password: 'x'.repeat(20) }, 'repeats one word or run'],
  ['a wrong code', { code: 'wrong' }, 'not the code that the app shows'],
  ['another secret', { secret: 'nonsense' }, 'not the code that the app shows'],
  ['no e-mail', { email: 'nobody' }, 'no e-mail address'],
])('%s leaves the link valid, and the form shows why', async (_, wrong, reason) => {
  const path = await invite();
  const form = await formOf(path);
  const code = wrongCodeAt(form.secret, service.clock.now);
  const sent = 'code' in wrong ? { code } : wrong;
  const refused = await submit(service, path, { ...form, ...sent });
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain(reason);
  expect(refused.body).not.toContain(PASSWORD);
  if (!('secret' in wrong)) expect(refused.body).toContain(form.secret);
  expect((await submit(service, path, form)).statusCode).toBe(200);
});

describe('an e-mail that somebody already signs in with', () => {
  test('is refused to a stranger with the link, who gains no access to that person’s accounts', async () => {
    const other = await addPerson(service);
    const path = await invite();
    const form = { ...(await formOf(path)), email: other.email.toUpperCase() };
    const refused = await submit(service, path, form);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('Somebody signs in with this e-mail already');
  });

  test('asks its owner to sign in, and adds the account to theirs', async () => {
    const other = await addPerson(service, { name: 'Lin' });
    const path = await invite();
    const page = await open(service, path, other);
    expect(textOf(page)).toContain('Join as Lin');
    const accepted = await submit(service, `${path}/accept`, {}, other);
    expect(accepted.headers.location).toBe(`/panel/merchants/${merchantId}`);
    const home = await follow(service, accepted, other);
    expect(textOf(home)).toContain('You have joined Blue Coffee.');
  });

  test('joins nothing through a session that is ended concurrently, since others may have given its person factors', async () => {
    const other = await addPerson(service, { name: 'Lin' });
    const path = await invite();
    // Like a link for new factors, which may have found no other account.
    const accepted = await service.db.transaction().execute(async tx => {
      await lockPerson(tx, other.personId);
      const response = submit(service, `${path}/accept`, {}, other);
      await vi.waitFor(async () => {
        const { rows } = await sql`
          select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(service.db);
        expect(rows).toHaveLength(1);
      }, SOON);
      await deleteSessionsOf(tx, other.personId, null);
      // The response comes once this has committed.
      return { response };
    });
    expect((await accepted.response).headers.location).toBe('/panel/sign-in');
    expect(await listMemberships(service.db, other.personId)).toEqual([]);
  });
});

describe('signing in to accept an invitation', () => {
  const form = { password: PASSWORD };
  const newPerson = () =>
    addMerchantUser(service, merchantId, 'member', { name: 'Lin', withPassword: true });

  test('continues from the session, and the token appears in no query', async () => {
    const other = await addMerchant(service, { name: 'Red Tea' });
    const lin = await newPerson();
    const invited = await createUser(operatorOf(service), {
      merchantId: other.merchant.id,
      name: 'Lin',
      email: lin.email,
      role: 'admin',
    });
    const { token } = await inviteUser(operatorOf(service), invited.id);
    const page = await open(service, `/panel/join/${token}`);
    expect(page.body).not.toContain(`${encodeURIComponent('/panel/join/')}`);
    const [, path = ''] = /href="(\/panel\/join\/[^"?]+)">Sign in</.exec(page.body) ?? [];
    expect((await open(service, path)).body).toContain(`action="${path}"`);
    const wrong = await submit(service, path, { ...form, email: 'nobody@example.com' });
    expect(wrong.statusCode).toBe(422);
    expect(wrong.body).toContain(`action="${path}"`);
    const half = await submit(service, path, { ...form, email: lin.email });
    expect(half.headers.location).toBe('/panel/sign-in/code');
    const code = codeAt(lin.secret, service.clock.now);
    const full = await submit(service, '/panel/sign-in/code', { code }, { cookie: cookieOf(half) });
    expect(full.headers.location).toBe('/panel/invitation');
    const cookie = cookieOf(full);
    const invitation = await open(service, '/panel/invitation', { cookie });
    expect(textOf(invitation)).toContain('Red Tea invites Lin to its panel as a Merchant Admin.');
    expect(textOf(invitation)).toContain('Join as Lin');
    const accepted = await submit(service, '/panel/invitation', {}, { cookie });
    expect(accepted.headers.location).toBe(`/panel/merchants/${other.merchant.id}`);
    const home = await open(service, `/panel/merchants/${other.merchant.id}`, { cookie });
    expect(home.statusCode).toBe(200);
    expect((await open(service, '/panel/invitation', { cookie })).statusCode).toBe(404);
    expect((await submit(service, '/panel/invitation', {}, { cookie })).statusCode).toBe(404);
  });

  test('to an account that the person already has is refused in words', async () => {
    const lin = await newPerson();
    const path = `${await invite()}/sign-in`;
    const half = await submit(service, path, { ...form, email: lin.email });
    const code = codeAt(lin.secret, service.clock.now);
    const full = await submit(service, '/panel/sign-in/code', { code }, { cookie: cookieOf(half) });
    const refused = await submit(service, '/panel/invitation', {}, { cookie: cookieOf(full) });
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('You can enter this account already.');
  });

  test('is requested by the page of the link when a session has ended meanwhile', async () => {
    const path = await invite();
    const headers = {
      'sec-fetch-site': 'same-origin',
      referer: `https://pay.example.test${path}`,
    };
    const refused = await submit(service, `${path}/accept`, {}, { headers });
    expect(refused.headers.location).toBe(path);
    const half = await addPerson(service, { factorMinutesAgo: null });
    const waiting = await submit(service, `${path}/accept`, {}, { ...half, headers });
    expect(waiting.headers.location).toBe('/panel/sign-in/code');
  });

  test('leads back to the link when somebody has signed in, and nowhere without one', async () => {
    const path = await invite();
    const lin = await newPerson();
    expect((await open(service, `${path}/sign-in`, lin)).headers.location).toBe(path);
    expect((await open(service, '/panel/invitation', lin)).statusCode).toBe(404);
    for (const token of ['short', '..%2f..%2fdocs', '%0d%0aset-cookie:%20a=b']) {
      expect((await open(service, `/panel/join/${token}/sign-in`, lin)).statusCode).toBe(404);
      expect((await open(service, `/panel/join/${token}/sign-in`)).statusCode).toBe(404);
    }
  });
});

test('a partner invites likewise', async () => {
  const { partner, member } = await addPartner(service, { role: 'developer' });
  const { token } = await inviteMember(operatorOf(service), member.id);
  const path = `/panel/join/${token}`;
  const joined = await submit(service, path, { ...(await formOf(path)), email: member.email });
  const cookie = cookieOf(joined);
  expect((await open(service, `/panel/partners/${partner.id}`, { cookie })).statusCode).toBe(200);
});

describe('the previous session of a browser ends with', () => {
  /** Whether the profile can be opened, rather than the form for the code. */
  const isOpen = async (cookie: string, path = '/panel/profile') =>
    (await open(service, path, { cookie })).statusCode === 200;

  test('joining as somebody new', async () => {
    const [other, elsewhere] = [await addPerson(service), await addPerson(service)];
    const path = await invite();
    const joined = await submit(service, path, await formOf(path), { cookie: other.cookie });
    expect(joined.statusCode).toBe(200);
    expect(await isOpen(cookieOf(joined))).toBe(true);
    expect(await isOpen(other.cookie)).toBe(false);
    expect(await isOpen(elsewhere.cookie)).toBe(true);
  });

  test('joining while a code is required, and so does the session before that', async () => {
    const before = await addPerson(service);
    const { email } = await addMerchantUser(service, merchantId, 'member', { withPassword: true });
    const form = { email, password: PASSWORD };
    const half = await submit(service, '/panel/sign-in', form, { cookie: before.cookie });
    expect(await isOpen(cookieOf(half), '/panel/sign-in/code')).toBe(true);
    const path = await invite();
    const joined = await submit(service, path, await formOf(path), { cookie: cookieOf(half) });
    expect(joined.statusCode).toBe(200);
    expect(await isOpen(cookieOf(half), '/panel/sign-in/code')).toBe(false);
    expect(await isOpen(before.cookie)).toBe(false);
  });

  test('a link for new factors', async () => {
    const other = await addPerson(service);
    const admin = await addMerchantUser(service, merchantId, 'admin', { withPassword: true });
    const { token } = await linkFor(operatorOf(service), { userId: admin.userId }, 'password');
    const path = `/panel/join/${token}`;
    const refused = await submit(service, path, { password: 'short' }, { cookie: other.cookie });
    expect(refused.statusCode).toBe(422);
    expect(await isOpen(other.cookie)).toBe(true);
    const form = { password: 'another password that is long' };
    const saved = await submit(service, path, form, { cookie: other.cookie });
    expect(saved.statusCode).toBe(303);
    expect(await isOpen(other.cookie)).toBe(false);
  });

  test('a link of the demo', async () => {
    const other = await addPerson(service);
    const { personId } = await addPerson(service, { isDemo: true });
    const subject = { person_id: personId };
    const { token } = await makeLink(
      service.db,
      'demo',
      subject,
      'test',
      new Date(service.clock()),
    );
    const entered = await submit(service, `/panel/join/${token}`, {}, { cookie: other.cookie });
    expect(await isOpen(cookieOf(entered))).toBe(true);
    expect(await isOpen(other.cookie)).toBe(false);
  });
});

describe('a link does not work', () => {
  test('after 72 hours', async () => {
    const path = await invite();
    service.clock.now += 72 * HOUR_MS;
    expect((await open(service, path)).statusCode).toBe(404);
  });

  test('once there is a newer one', async () => {
    const [former, newer] = [await invite(), await invite()];
    expect((await open(service, former)).statusCode).toBe(404);
    expect((await open(service, newer)).statusCode).toBe(200);
  });

  test('once the user is inactive', async () => {
    const path = await invite();
    await service.db
      .updateTable('merchant_users')
      .set({ status: 'inactive' })
      .where('id', '=', user.id)
      .execute();
    expect((await open(service, path)).statusCode).toBe(404);
  });

  test('and looks like one that never existed', async () => {
    const never = await open(service, `/panel/join/${'x'.repeat(43)}`);
    const used = await invite();
    await submit(service, used, await formOf(used));
    const plain = ({ body }: { body: string }) => body.replaceAll(/[0-9a-f-]{36}/g, 'ID');
    expect(plain(await open(service, used))).toBe(plain(never));
  });
});

describe('a link for somebody who has lost', () => {
  const OTHER = 'another password that is long';
  const linked = async (purpose: 'password' | 'factors' | 'both') => {
    const admin = await addMerchantUser(service, merchantId, 'admin', { withPassword: true });
    const { token } = await linkFor(operatorOf(service), { userId: admin.userId }, purpose);
    return { admin, path: `/panel/join/${token}` };
  };
  const signsIn = async (email: string, password: string, secret: string) => {
    const half = await submit(service, '/panel/sign-in', { email, password });
    if (half.statusCode !== 303) return 'refused';
    service.clock.now += 30_000;
    const code = codeAt(secret, service.clock.now);
    const full = await submit(service, '/panel/sign-in/code', { code }, { cookie: cookieOf(half) });
    return full.statusCode === 303 ? 'in' : 'wrong code';
  };

  /** When a link last gave somebody factors: for a while they may not change addresses. */
  const recoveredAt = async ({ personId }: Visitor) =>
    (await findPerson(service.db, personId))?.recovered_at?.getTime();

  test('the password: the app is kept', async () => {
    const { admin, path } = await linked('password');
    expect(await recoveredAt(admin)).toBeUndefined();
    const saved = await submit(service, path, { password: OTHER });
    expect(saved.headers.location).toBe('/panel/sign-in');
    expect(textOf(await follow(service, saved, { cookie: '' }))).toContain(
      'Your password was changed; all your sessions have ended.',
    );
    expect(await recoveredAt(admin)).toBe(service.clock.now);
    expect(await signsIn(admin.email, PASSWORD, admin.secret)).toBe('refused');
    expect(await signsIn(admin.email, OTHER, admin.secret)).toBe('in');
    const home = await open(service, `/panel/merchants/${merchantId}`, admin);
    expect(home.statusCode).toBe(303);
  });

  test('the phone: the password is required, and kept', async () => {
    const { admin, path } = await linked('factors');
    const { secret, code } = await formOf(path);
    const wrong = await submit(service, path, { password: OTHER, secret, code });
    expect(textOf(wrong)).toContain('This is not your password.');
    const saved = await submit(service, path, { password: PASSWORD, secret, code });
    expect(textOf(saved)).toContain('Your authenticator app was replaced; all your sessions');
    expect(saved.headers['set-cookie']).not.toMatch(/mp_panel=\w/);
    expect(await recoveredAt(admin)).toBe(service.clock.now);
    expect(await signsIn(admin.email, PASSWORD, admin.secret)).toBe('wrong code');
    expect(await signsIn(admin.email, PASSWORD, secret)).toBe('in');
  });

  test('both', async () => {
    const { admin, path } = await linked('both');
    const { secret, code } = await formOf(path);
    expect((await submit(service, path, { password: OTHER, secret, code })).statusCode).toBe(200);
    expect(await recoveredAt(admin)).toBe(service.clock.now);
    expect(await signsIn(admin.email, OTHER, secret)).toBe('in');
  });
});
