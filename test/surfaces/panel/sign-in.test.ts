import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readNext } from '#surfaces/panel/kit/next.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  cookieOf,
  DEVICE_COOKIE,
  follow,
  HOST,
  open,
  PASSWORD,
  SESSION_COOKIE,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';

const MINUTE_MS = 60_000;

let service: TestApp;
let merchantId: string;

beforeAll(async () => {
  service = await startTestApp();
  merchantId = (await addMerchant(service)).merchant.id;
});
afterAll(() => service.close());

const newAdmin = () => addMerchantUser(service, merchantId, 'admin', { withPassword: true });

const tryPassword = (email: string, password: string, cookie?: string) =>
  submit(service, '/panel/sign-in', { email, password }, cookie === undefined ? {} : { cookie });

/** Signs in with password and code; returns the cookies of session and device. */
async function signIn({ email, secret }: Visitor) {
  const half = await tryPassword(email, PASSWORD);
  expect(half.statusCode).toBe(303);
  // Each code counts once.
  service.clock.now += 30_000;
  const code = codeAt(secret, service.clock.now);
  const full = await submit(service, '/panel/sign-in/code', { code }, { cookie: cookieOf(half) });
  expect(full.statusCode).toBe(303);
  return { session: cookieOf(full), device: cookieOf(full, DEVICE_COOKIE), half: cookieOf(half) };
}

const isIn = async (cookie: string) =>
  (await open(service, `/panel/merchants/${merchantId}`, { cookie })).statusCode === 200;

test('password and code each set a new cookie, and together let somebody in', async () => {
  const admin = await newAdmin();
  const { session, half } = await signIn(admin);
  expect(session).not.toBe(half);
  expect(await isIn(session)).toBe(true);
  expect(await isIn(half)).toBe(false);
  const { detail, person_id } = await service.db
    .selectFrom('audit_log')
    .selectAll()
    .where('action', '=', 'person.sign-in')
    .where('object_id', '=', admin.personId)
    .executeTakeFirstOrThrow();
  expect(detail).toEqual({ methods: ['password', 'code'], device: 'new' });
  expect(person_id).toBe(admin.personId);
});

test('a sign-in from an unknown device is shown on Home for a week', async () => {
  const admin = await newAdmin();
  const homeWith = async (cookie: string) =>
    textOf(await open(service, `/panel/merchants/${merchantId}`, { cookie }));
  const said = /Somebody signed in as you with a new device on [-0-9]+ at [:0-9]+ UTC, from 10\./;
  const first = await signIn(admin);
  expect(await homeWith(first.session)).toMatch(said);
  // Others see nothing of it.
  expect(await homeWith((await newAdmin()).cookie)).not.toMatch(said);
  service.clock.now += 7 * 24 * 60 * 60_000 + 60_000;
  const half = await tryPassword(admin.email, PASSWORD, first.device);
  const code = codeAt(admin.secret, service.clock.now);
  const cookie = `${cookieOf(half)}; ${first.device}`;
  const full = await submit(service, '/panel/sign-in/code', { code }, { cookie });
  expect(await homeWith(cookieOf(full))).not.toMatch(said);
});

test('scripts and other sites cannot read the cookie', async () => {
  const response = await tryPassword((await newAdmin()).email, PASSWORD);
  expect(response.cookies.find(({ name }) => name === SESSION_COOKIE)).toMatchObject({
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
    path: '/',
  });
  expect(String(response.headers['set-cookie'])).not.toContain('Domain');
});

test('a password alone opens nothing', async () => {
  const half = cookieOf(await tryPassword((await newAdmin()).email, PASSWORD));
  const response = await open(service, `/panel/merchants/${merchantId}`, { cookie: half });
  expect(response.headers.location).toMatch(/^\/panel\/sign-in\/code/);
});

test('every wrong attempt gets the same response', async () => {
  const { email } = await newAdmin();
  const answers = [
    await tryPassword(email, 'a wrong password'),
    await tryPassword('nobody@example.com', PASSWORD),
    await tryPassword('', ''),
  ];
  for (const answer of answers) {
    expect(answer.statusCode).toBe(422);
    expect(textOf(answer)).toContain('E-mail or password are not right');
    expect(answer.body).not.toContain('a wrong password');
  }
});

describe('codes', () => {
  test('a code works once, in the next session either', async () => {
    const admin = await newAdmin();
    const code = codeAt(admin.secret, service.clock.now);
    const send = async () => {
      const half = await tryPassword(admin.email, PASSWORD);
      return submit(service, '/panel/sign-in/code', { code }, { cookie: cookieOf(half) });
    };
    expect((await send()).statusCode).toBe(303);
    expect((await send()).statusCode).toBe(422);
  });

  test('of two concurrent uses of one code, one gets in', async () => {
    const admin = await newAdmin();
    const halves = [
      cookieOf(await tryPassword(admin.email, PASSWORD)),
      cookieOf(await tryPassword(admin.email, PASSWORD)),
    ];
    const code = codeAt(admin.secret, service.clock.now);
    const answers = await Promise.all(
      halves.map(cookie => submit(service, '/panel/sign-in/code', { code }, { cookie })),
    );
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 422]);
  });

  test('five wrong ones end the session', async () => {
    const admin = await newAdmin();
    const cookie = cookieOf(await tryPassword(admin.email, PASSWORD));
    const form = { code: wrongCodeAt(admin.secret, service.clock.now) };
    const wrong = () => submit(service, '/panel/sign-in/code', form, { cookie });
    for (let tried = 1; tried < 5; tried++) expect((await wrong()).statusCode).toBe(422);
    expect((await wrong()).headers.location).toBe('/panel/sign-in');
    const code = codeAt(admin.secret, service.clock.now);
    const late = await submit(service, '/panel/sign-in/code', { code }, { cookie });
    expect(late.headers.location).toMatch(/^\/panel\/sign-in/);
  });

  test.each([
    ['of half a minute ago', -30_000, 303],
    ['of a minute ago', -60_000, 422],
    ['of half a minute to come', 30_000, 422],
  ])('one %s', async (_, shift, status) => {
    const admin = await newAdmin();
    const cookie = cookieOf(await tryPassword(admin.email, PASSWORD));
    const code = codeAt(admin.secret, service.clock.now + shift);
    const answer = await submit(service, '/panel/sign-in/code', { code }, { cookie });
    expect(answer.statusCode).toBe(status);
  });
});

describe('too many failures', () => {
  const fail = async (email: string, times: number, cookie?: string) => {
    for (let tried = 0; tried < times; tried++) {
      await tryPassword(email, 'a wrong password', cookie);
    }
  };

  test('are followed by a quarter of an hour of the same refusal', async () => {
    const { email } = await newAdmin();
    await fail(email, 10);
    expect((await tryPassword(email, PASSWORD)).statusCode).toBe(422);
    service.clock.now += 16 * MINUTE_MS;
    expect((await tryPassword(email, PASSWORD)).statusCode).toBe(303);
  });

  test('do not lock out a device that has signed in before', async () => {
    const admin = await newAdmin();
    const { device } = await signIn(admin);
    await fail(admin.email, 10);
    expect((await tryPassword(admin.email, PASSWORD)).statusCode).toBe(422);
    expect((await tryPassword(admin.email, PASSWORD, device)).statusCode).toBe(303);
  });

  test('a device that is known for one person is unknown for others', async () => {
    const [one, other] = [await newAdmin(), await newAdmin()];
    const { device } = await signIn(one);
    await fail(other.email, 10, device);
    expect((await tryPassword(other.email, PASSWORD, device)).statusCode).toBe(422);
  });
});

describe('a session', () => {
  test('ends after an hour without a request', async () => {
    const { session } = await signIn(await newAdmin());
    service.clock.now += 59 * MINUTE_MS;
    expect(await isIn(session)).toBe(true);
    service.clock.now += 60 * MINUTE_MS;
    expect(await isIn(session)).toBe(false);
  });

  test('ends after an hour without its person, whatever a page polls by itself', async () => {
    // As the script's refresh sends it.
    const script = readFileSync(
      new URL('../../../src/surfaces/panel/kit/script.js', import.meta.url),
      'utf8',
    );
    const [, header = ''] =
      /fetch\(location\.href, \{[^}]*headers: \{ '([\w-]+)'/.exec(script) ?? [];
    const { session } = await signIn(await newAdmin());
    for (let minutes = 5; minutes <= 60; minutes += 5) {
      service.clock.now += 5 * MINUTE_MS;
      const { statusCode } = await service.app.inject({
        url: '/panel/profile',
        headers: { host: HOST, cookie: session, [header]: '1' },
      });
      expect(statusCode, `after ${minutes} minutes`).toBe(minutes < 60 ? 200 : 303);
    }
    expect(await isIn(session)).toBe(false);
  });

  test('ends after twelve hours in any case', async () => {
    const { session } = await signIn(await newAdmin());
    for (let half = 0; half < 23; half++) {
      service.clock.now += 30 * MINUTE_MS;
      expect(await isIn(session)).toBe(true);
    }
    service.clock.now += 30 * MINUTE_MS;
    expect(await isIn(session)).toBe(false);
  });

  test('ends when its person signs out, or the user is deactivated', async () => {
    const [one, other] = [await newAdmin(), await newAdmin()];
    const session = (await signIn(one)).session;
    const out = await submit(service, '/panel/sign-out', {}, { cookie: session });
    expect(textOf(await follow(service, out, { cookie: '' }))).toContain('Signed out.');
    expect(await isIn(session)).toBe(false);
    await service.db
      .updateTable('merchant_users')
      .set({ status: 'inactive' })
      .where('id', '=', other.userId)
      .execute();
    expect(await isIn(other.cookie)).toBe(false);
  });

  test('is one of ten: the oldest ends once another is complete', async () => {
    const admin = await newAdmin();
    const half = cookieOf(await tryPassword(admin.email, PASSWORD));
    const others: string[] = [];
    for (let begun = 0; begun < 9; begun++) {
      service.clock.now += 1;
      others.push(await addSession(service, admin));
    }
    expect(await isIn(admin.cookie)).toBe(true);
    const code = codeAt(admin.secret, service.clock.now);
    const full = await submit(service, '/panel/sign-in/code', { code }, { cookie: half });
    expect(await isIn(admin.cookie)).toBe(false);
    for (const cookie of [...others, cookieOf(full)]) expect(await isIn(cookie)).toBe(true);
  });

  test('ends when somebody has signed in after it in the same browser', async () => {
    const [one, other] = [await newAdmin(), await newAdmin()];
    const elsewhere = await addSession(service, one);
    const first = await tryPassword(one.email, PASSWORD, one.cookie);
    // Another person sends their password again, while the first code is requested.
    const half = cookieOf(await tryPassword(other.email, PASSWORD, cookieOf(first)));
    expect(await isIn(one.cookie)).toBe(true);
    const send = (code: string, cookie: string) =>
      submit(service, '/panel/sign-in/code', { code }, { cookie });
    expect((await send(wrongCodeAt(other.secret, service.clock.now), half)).statusCode).toBe(422);
    expect(await isIn(one.cookie)).toBe(true);
    const full = await send(codeAt(other.secret, service.clock.now), half);
    expect(await isIn(cookieOf(full))).toBe(true);
    expect(await isIn(one.cookie)).toBe(false);
    expect(await isIn(elsewhere)).toBe(true);
  });

  test('does not end by a password alone, however often and wherever it is entered', async () => {
    const admin = await newAdmin();
    for (let begun = 0; begun < 10; begun++) {
      service.clock.now += 1;
      const half = await tryPassword(admin.email, PASSWORD, admin.cookie);
      expect(half.statusCode).toBe(303);
    }
    expect(await isIn(admin.cookie)).toBe(true);
    const profile = await open(service, '/panel/profile', admin);
    expect(profile.body.match(/password only/g)).toHaveLength(10);
  });
});

test('no credential is in the database or the log', async () => {
  const admin = await newAdmin();
  const { session, device } = await signIn(admin);
  const { rows } = await sql<{ dump: string }>`
    select json_build_array(
      (select json_agg(p) from people p), (select json_agg(s) from panel_sessions s),
      (select json_agg(d) from known_devices d), (select json_agg(c) from sign_in_counters c),
      (select json_agg(a) from audit_log a))::text as dump`.execute(service.db);
  const kept = rows[0]?.dump + JSON.stringify(service.logs);
  for (const secret of [session, device, admin.secret, PASSWORD]) {
    const text = secret.split('=')[1] ?? secret;
    expect(kept).not.toContain(text);
    expect(kept).not.toContain(Buffer.from(text).toString('hex'));
  }
});

test.each([
  ['/panel/merchants/1/payments?status=pending', '/panel/merchants/1/payments?status=pending'],
  ['https://evil.example/panel/', '/panel'],
  ['//evil.example/panel/', '/panel'],
  ['/panel/../docs', '/panel'],
  ['/panel/..%2f..', '/panel/..%2f..'],
  ['/docs', '/panel'],
  [`/panel/join/${'x'.repeat(43)}`, '/panel'],
  ['javascript:alert(1)', '/panel'],
  ['/panel/\\evil.example', '/panel//evil.example'],
  [`/panel/${'x'.repeat(600)}`, '/panel'],
  [undefined, '/panel'],
])('after signing in, next=%s leads to %s', (next, path) => {
  expect(readNext(next)).toBe(path);
});
