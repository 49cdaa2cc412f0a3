import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { linkFor } from '#accounts/people/invitations.ts';
import { findPerson } from '#storage/repositories/people/people.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type MailServer, sendDueMail, startMailServer } from '../../helpers/mail-server.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  cookieOf,
  open,
  PASSWORD,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';

const PATH = '/panel/forgotten-password';
const NEW_PASSWORD = 'another password that nobody else has';
const MINUTE_MS = 60_000;
const LINK = /https:\/\/pay\.example\.test(\/panel\/join\/[\w-]{43})\n/;

let service: TestApp;
let server: MailServer;
let merchantId: string;

beforeAll(async () => {
  server = await startMailServer();
  const SMTP_URL = `smtp://127.0.0.1:${server.port}`;
  service = await startTestApp({ env: { SMTP_URL, MAIL_FROM: 'payments@example.com' } });
  merchantId = (await addMerchant(service)).merchant.id;
});
afterAll(async () => {
  await service.close();
  await server.close();
});
afterEach(async () => {
  await sql`delete from mails`.execute(service.db);
});

const newAdmin = () => addMerchantUser(service, merchantId, 'admin', { withPassword: true });
const send = () => sendDueMail(service, server.port);

/**
 * Requests a link and lets the worker send it.
 * @returns The path in the last mail, if one came.
 */
async function askFor(email: string): Promise<string | undefined> {
  expect((await submit(service, PATH, { email })).statusCode).toBe(303);
  const before = server.to(email).length;
  await send();
  const mails = server.to(email);
  return mails.length === before ? undefined : LINK.exec(mails.at(-1)?.text ?? '')?.[1];
}

async function trySignIn({ email, secret }: Visitor, password: string): Promise<boolean> {
  const half = await submit(service, '/panel/sign-in', { email, password });
  if (half.statusCode !== 303) return false;
  service.clock.now += 30_000;
  const code = codeAt(secret, service.clock.now);
  const full = await submit(service, '/panel/sign-in/code', { code }, { cookie: cookieOf(half) });
  return full.statusCode === 303;
}

test('from the forgotten password to a new one; the code is still required', async () => {
  const admin = await newAdmin();
  const signIn = await open(service, '/panel/sign-in');
  expect(signIn.body).toContain(`href="${PATH}"`);
  expect((await open(service, PATH)).body).toContain('name="email"');
  const asked = await submit(service, PATH, { email: ` ${admin.email.toUpperCase()} ` });
  expect(asked.headers.location).toBe(`${PATH}/asked`);
  expect(textOf(await open(service, `${PATH}/asked`))).toContain('a link is on its way');
  await send();
  const [mail] = server.to(admin.email);
  expect(mail?.text).toContain('It works once, for an hour.');
  const path = LINK.exec(mail?.text ?? '')?.[1] ?? '';
  // Only the mail has the token.
  const token = path.slice(-43);
  const { rows } = await sql<{ text: string }>`
    select (select json_agg(m)::text from mails m) || (select json_agg(l)::text from panel_links l)
      || (select json_agg(a)::text from audit_log a) as text`.execute(service.db);
  expect(rows[0]?.text).toContain('person.link');
  expect(rows[0]?.text).not.toContain(token);
  expect(JSON.stringify(service.logs)).not.toMatch(new RegExp(`${token}|${admin.email}`));
  // Opening it changes nothing; the link is for the password only.
  const page = await open(service, path);
  expect(page.body).toContain('Choose a new password');
  expect(page.body).not.toContain('name="code"');
  const renewed = await submit(service, path, { password: NEW_PASSWORD });
  expect(renewed.headers.location).toBe('/panel/sign-in');
  expect((await open(service, '/panel/profile', admin)).statusCode).toBe(303);
  expect(await trySignIn(admin, PASSWORD)).toBe(false);
  expect(await trySignIn(admin, NEW_PASSWORD)).toBe(true);
  expect((await open(service, path)).statusCode).toBe(404);
});

test('the response is the same for every e-mail, and so is the work of the request', async () => {
  const { email } = await newAdmin();
  const responses = [];
  const statements = [];
  for (const typed of [email, 'nobody@example.com']) {
    const { body, headers, statusCode } = await submit(service, PATH, { email: typed });
    const { date: _, 'x-request-id': id, ...same } = headers;
    expect(id).toBeDefined();
    responses.push({ body, statusCode, ...same });
    const rows = await service.db.selectFrom('mails').selectAll().execute();
    statements.push(rows.length);
  }
  expect(responses[1]).toEqual(responses[0]);
  expect(statements).toEqual([1, 2]);
  const kept = await service.db.selectFrom('mails').select(['person_id', 'kind']).execute();
  expect(kept).toEqual([
    { person_id: null, kind: 'password-link' },
    { person_id: null, kind: 'password-link' },
  ]);
  await send();
  expect(server.to(email)).toHaveLength(1);
  expect(server.to('nobody@example.com')).toEqual([]);
  // So is it for what is no e-mail at all.
  for (const typed of [
    '',
    'ada',
    `${'a'.repeat(300)}@example.com`,
    'ada@example.com, b@example.com',
  ]) {
    const { headers } = await submit(service, PATH, { email: typed });
    expect(headers.location).toBe(`${PATH}/asked`);
  }
});

test('three are sent to an e-mail, then none for an hour, whoever asks', async () => {
  const { email } = await newAdmin();
  for (let n = 0; n < 3; n++) expect(await askFor(email)).toBeDefined();
  expect(await askFor(email)).toBeUndefined();
  service.clock.now += 59 * MINUTE_MS;
  expect(await askFor(email)).toBeUndefined();
  service.clock.now += MINUTE_MS;
  expect(await askFor(email)).toBeDefined();
});

test('a site may ask twenty times in five minutes', async () => {
  const ask = () =>
    service.app.inject({
      method: 'POST',
      url: PATH,
      remoteAddress: '198.51.100.7',
      headers: {
        host: 'pay.example.test',
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: 'email=nobody',
    });
  for (let n = 0; n < 20; n++) expect((await ask()).statusCode).toBe(303);
  expect((await ask()).statusCode).toBe(429);
});

test('a new link ends the previous one, but not those that others have made', async () => {
  const admin = await newAdmin();
  const { token } = await linkFor(operatorOf(service), { userId: admin.userId }, 'both');
  const first = (await askFor(admin.email)) ?? '';
  const second = (await askFor(admin.email)) ?? '';
  expect((await open(service, first)).statusCode).toBe(404);
  expect((await open(service, second)).statusCode).toBe(200);
  expect((await open(service, `/panel/join/${token}`)).statusCode).toBe(200);
  // One that others make ends all of them.
  await linkFor(operatorOf(service), { userId: admin.userId }, 'password');
  expect((await open(service, second)).statusCode).toBe(404);
});

test('it is valid for an hour from when it was sent, and is not sent an hour late', async () => {
  const { email } = await newAdmin();
  const path = (await askFor(email)) ?? '';
  service.clock.now += 59 * MINUTE_MS;
  expect((await open(service, path)).statusCode).toBe(200);
  service.clock.now += MINUTE_MS;
  expect((await open(service, path)).statusCode).toBe(404);
  await submit(service, PATH, { email });
  service.clock.now += 61 * MINUTE_MS;
  await send();
  expect(server.to(email)).toHaveLength(1);
});

test('it gives a reader of the mail no more attempts at the code', async () => {
  const admin = await newAdmin();
  for (let n = 0; n < 10; n++) {
    const cookie = await addSession(service, admin, null);
    const code = wrongCodeAt(admin.secret, service.clock.now);
    await submit(service, '/panel/sign-in/code', { code }, { cookie });
  }
  const path = (await askFor(admin.email)) ?? '';
  expect((await submit(service, path, { password: NEW_PASSWORD })).statusCode).toBe(303);
  expect(await trySignIn(admin, NEW_PASSWORD)).toBe(false);
  const person = await findPerson(service.db, admin.personId);
  expect(person?.code_closed_at).toBeInstanceOf(Date);
  service.clock.now += 15 * MINUTE_MS;
  expect(await trySignIn(admin, NEW_PASSWORD)).toBe(true);
});

test.each(['it', 'one that others made'])(
  '%s ends when the password is changed in the panel',
  async which => {
    const admin = await newAdmin();
    const made = () => linkFor(operatorOf(service), { userId: admin.userId }, 'both');
    const path =
      which === 'it' ? ((await askFor(admin.email)) ?? '') : `/panel/join/${(await made()).token}`;
    expect((await open(service, path)).body).toContain('name="password"');
    const code = codeAt(admin.secret, service.clock.now);
    const form = { password: PASSWORD, 'new-password': `${NEW_PASSWORD}, either`, code };
    expect((await submit(service, '/panel/profile/password', form, admin)).statusCode).toBe(303);
    expect((await open(service, path)).body).not.toContain('name="password"');
  },
);

test('nobody without a password gets one: neither people of the demo nor those who are only invited', async () => {
  const demo = await addMerchantUser(service, merchantId, 'admin', { isDemo: true });
  expect(await askFor(demo.email)).toBeUndefined();
  const open = await addMerchantUser(service, merchantId, 'member');
  expect(await askFor(open.email)).toBeUndefined();
});

test('without a mail server the page says who makes a link, and nothing is stored', async () => {
  const silent = await startTestApp({ beside: service });
  const admin = await newAdmin();
  for (const url of [PATH, `${PATH}/asked`]) {
    const page = await open(silent, url);
    expect(textOf(page)).toContain('This service sends no mail. Another admin or owner');
    expect(textOf(page)).toContain('mp user link USER --password');
    expect(page.body).not.toContain('name="email"');
  }
  const asked = await submit(silent, PATH, { email: admin.email });
  expect(asked.headers.location).toBe(PATH);
  expect(await service.db.selectFrom('mails').select('id').execute()).toEqual([]);
  const team = `/panel/merchants/${merchantId}/settings/team`;
  for (const url of [team, '/panel/profile']) {
    expect(textOf(await open(silent, url, admin))).toContain('This service sends no mail');
    expect(textOf(await open(service, url, admin))).not.toContain('This service sends no mail');
  }
  await silent.close();
});
