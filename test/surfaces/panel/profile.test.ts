import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPerson, replaceRecoveryCodes } from '#storage/repositories/people/people.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPerson,
  addSession,
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

const OTHER = 'another password that is long';

let service: TestApp;
let merchantId: string;
beforeAll(async () => {
  service = await startTestApp();
  merchantId = (await addMerchant(service)).merchant.id;
});
afterAll(() => service.close());

const newAdmin = () => addMerchantUser(service, merchantId, 'admin', { withPassword: true });

/** The password and an unused code. */
function proofOf({ secret }: Visitor) {
  service.clock.now += 30_000;
  return { password: PASSWORD, code: codeAt(secret, service.clock.now) };
}

/** Since when somebody has their current factors, which decides whether they may approve changes. */
async function factorsSince({ personId }: Visitor): Promise<number | undefined> {
  return (await findPerson(service.db, personId))?.factors_since.getTime();
}

test('a new password needs the current one and a code, and ends all other sessions', async () => {
  const admin = await newAdmin();
  const path = '/panel/profile/password';
  const form = { 'new-password': OTHER, ...proofOf(admin) };
  const half = await submit(service, '/panel/sign-in', { email: admin.email, password: PASSWORD });
  const wrong = await submit(service, path, { ...form, password: OTHER }, admin);
  expect(textOf(wrong)).toContain('This is not your password.');
  const changed = await submit(service, path, form, admin);
  expect(textOf(await follow(service, changed, admin))).toContain(
    'Your password was changed; all other sessions have ended.',
  );
  expect(await factorsSince(admin)).toBe(service.clock.now);
  // It is said once.
  const profile = await open(service, '/panel/profile', admin);
  expect(textOf(profile)).not.toContain('Your password was changed');
  const other = await open(service, '/panel/sign-in/code', { cookie: cookieOf(half) });
  expect(other.headers.location).toMatch(/^\/panel\/sign-in/);
  const again = await submit(service, '/panel/sign-in', { email: admin.email, password: OTHER });
  expect(again.statusCode).toBe(303);
});

test('a new password is not mostly a name of the person or of their accounts', async () => {
  const { merchant } = await addMerchant(service, { name: 'Blue Coffee House' });
  const admin = await addMerchantUser(service, merchant.id, 'admin', { withPassword: true });
  for (const password of ['blue coffee house 2026', `${admin.email.split('@')[0]}-2026`]) {
    const form = { 'new-password': password, ...proofOf(admin) };
    const refused = await submit(service, '/panel/profile/password', form, admin);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('that anybody could try');
  }
});

test('a used code proves nothing', async () => {
  const admin = await newAdmin();
  const proof = proofOf(admin);
  const codes = await submit(service, '/panel/profile/recovery-codes', proof, admin);
  expect(codes.body.match(/[A-Z2-7]{4}(-[A-Z2-7]{4}){5}/g)).toHaveLength(8);
  expect(textOf(codes)).toContain('Your recovery codes were replaced; all other sessions');
  expect(await factorsSince(admin)).toBe(service.clock.now);
  const again = await submit(service, '/panel/profile/recovery-codes', proof, admin);
  expect(again.statusCode).toBe(422);
  expect(textOf(again)).toContain('This code is not right');
});

test('a form with a right code renews the token, even if its change is refused', async () => {
  const admin = await newAdmin();
  const path = '/panel/profile/email';
  const taken = (await newAdmin()).email;
  for (const email of ['renewed@example.com', taken]) {
    const { cookie } = admin;
    const wrong = { email, password: PASSWORD, code: '' };
    expect((await submit(service, path, wrong, admin)).cookies).toEqual([]);
    const changed = await submit(service, path, { email, ...proofOf(admin) }, admin);
    expect(changed.statusCode).toBe(email === taken ? 422 : 303);
    expect(admin.cookie).not.toBe(cookie);
    expect((await open(service, '/panel/profile', admin)).statusCode).toBe(200);
    // Another tab may have sent the request before it had the new token, which it must not remove.
    const late = await open(service, '/panel/profile', { cookie });
    expect(late.headers.location).toBe('/panel/sign-in?next=%2Fpanel%2Fprofile');
    expect(late.cookies).toEqual([]);
  }
});

test('five wrong proofs end the session, whether passwords or codes', async () => {
  const admin = await newAdmin();
  const path = '/panel/profile/email';
  const ask = (fields: object) =>
    submit(service, path, { email: 'new@example.com', ...proofOf(admin), ...fields }, admin);
  // The second proof is a minute later.
  const code = wrongCodeAt(admin.secret, service.clock.now + 60_000);
  for (const fields of [{ password: OTHER }, { code }, { password: '' }, { code: '' }]) {
    expect((await ask(fields)).statusCode).toBe(422);
  }
  const last = await ask({ password: OTHER });
  expect(last.headers.location).toBe('/panel/sign-in');
  expect(cookieOf(last)).toMatch(/=$/);
  expect(textOf(await follow(service, last, { cookie: '' }))).toContain(
    'Your session has ended. Sign in again.',
  );
  expect((await open(service, '/panel/profile', admin)).statusCode).toBe(303);
});

test('a new app replaces the previous one', async () => {
  const admin = await newAdmin();
  const page = await open(service, '/panel/profile/app', admin);
  const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
  // The app shows whose account it is.
  expect(page.body).toContain(
    `<a href="otpauth://totp/External%20Payments:${encodeURIComponent(admin.email)}?`,
  );
  const proof = proofOf(admin);
  const form = { ...proof, secret, 'new-code': codeAt(secret, service.clock.now) };
  const wrong = await submit(
    service,
    '/panel/profile/app',
    { ...form, 'new-code': wrongCodeAt(secret, service.clock.now) },
    admin,
  );
  expect(textOf(wrong)).toContain('not the code that the new app shows');
  const codes = await submit(service, '/panel/profile/app', form, admin);
  expect(textOf(codes)).toContain('Your authenticator app was replaced; all other sessions');
  const former = await submit(service, '/panel/profile/recovery-codes', proofOf(admin), admin);
  expect(former.statusCode).toBe(422);
});

test('an e-mail that somebody else has is refused', async () => {
  const [admin, other] = [await newAdmin(), await addPerson(service)];
  const path = '/panel/profile/email';
  const taken = await submit(service, path, { email: other.email, ...proofOf(admin) }, admin);
  expect(taken.statusCode).toBe(422);
  expect(textOf(taken)).toContain('Somebody signs in with this e-mail already.');
  const since = await factorsSince(admin);
  const email = 'new.address@example.com';
  expect((await submit(service, path, { email, ...proofOf(admin) }, admin)).statusCode).toBe(303);
  expect(await factorsSince(admin)).toBe(since);
  expect((await submit(service, '/panel/sign-in', { email, password: PASSWORD })).statusCode).toBe(
    303,
  );
});

test('a person ends their own sessions, and no others', async () => {
  const [admin, other] = [await newAdmin(), await newAdmin()];
  await submit(service, '/panel/sign-in', { email: admin.email, password: PASSWORD });
  const page = await open(service, '/panel/profile', admin);
  const [, id = ''] = /sessions\/([0-9a-f-]+)\/end/.exec(page.body) ?? [];
  const path = `/panel/profile/sessions/${id}/end`;
  expect((await submit(service, path, {}, other)).statusCode).toBe(404);
  const ended = await submit(service, path, {}, admin);
  expect(textOf(await follow(service, ended, admin))).toContain('The session has ended.');
  expect((await submit(service, path, {}, admin)).statusCode).toBe(404);
});

test('a person ends all other sessions, with a recent second factor', async () => {
  const admin = await newAdmin();
  const others = [await addSession(service, admin), await addSession(service, admin)];
  const path = '/panel/profile/sessions/end-others';
  const late = { cookie: await addSession(service, admin, 11) };
  expect(textOf(await submit(service, path, {}, late))).toContain('Confirm that it is you');
  expect((await open(service, '/panel/profile', { cookie: others[0] ?? '' })).statusCode).toBe(200);
  const ended = await submit(service, path, {}, admin);
  expect(textOf(await follow(service, ended, admin))).toContain('3 other sessions have ended.');
  for (const cookie of others) {
    expect((await open(service, '/panel/profile', { cookie })).statusCode).toBe(303);
  }
});

test.each(['email', 'password', 'app', 'recovery-codes'])('%s: the form leads back', async form => {
  const person = await addPerson(service);
  const page = await open(service, `/panel/profile/${form}`, person);
  expect(page.body).toContain('<a href="/panel/profile">Back to your profile</a>');
});

test('a person of the demo has nothing to sign in with', async () => {
  const demo = await addPerson(service, { isDemo: true });
  expect(textOf(await open(service, '/panel/profile', demo))).toContain('the demo');
  const form = { password: '', code: '' };
  expect((await submit(service, '/panel/profile/recovery-codes', form, demo)).statusCode).toBe(404);
});

test.each([
  [0, 'You have no recovery code left: without your phone you cannot sign in.'],
  [1, 'You have 1 recovery code left.'],
])('a warning shows when few recovery codes are left: %i', async (left, says) => {
  const person = await addPerson(service);
  const hashes = Array.from({ length: left }, (_, n) => Buffer.alloc(32, n));
  if (left > 0) await replaceRecoveryCodes(service.db, person.personId, hashes);
  expect(textOf(await open(service, '/panel/profile', person))).toContain(says);
});
