import { register } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkFor } from '#accounts/people/invitations.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  codeAt,
  cookieOf,
  DEVICE_COOKIE,
  open,
  PASSWORD,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';

const MINUTE_MS = 60_000;
const CODE_PATH = '/panel/sign-in/code';
const WRONG_PASSWORD = 'a password that is wrong';
const CLOSED = 'Too many wrong codes were entered for you.';

let service: TestApp;
let merchantId: string;

beforeAll(async () => {
  service = await startTestApp();
  merchantId = (await addMerchant(service)).merchant.id;
});
afterAll(() => service.close());

const newAdmin = () => addMerchantUser(service, merchantId, 'admin', { withPassword: true });

const rightCode = ({ secret }: Visitor) => codeAt(secret, service.clock.now);
const wrongCode = ({ secret }: Visitor) => wrongCodeAt(secret, service.clock.now);

const sessionsOf = (visitor: Visitor, count: number, factorMinutesAgo: number | null) =>
  Promise.all(Array.from({ length: count }, () => addSession(service, visitor, factorMinutesAgo)));

/** Sends a code in a new session, which has just been begun with the password. */
async function sendCode(visitor: Visitor, code: string, device?: string) {
  const half = await addSession(service, visitor, null);
  const cookie = device === undefined ? half : `${half}; ${device}`;
  return submit(service, CODE_PATH, { code }, { cookie });
}

/** How many passwords or codes were compared so far, and found wrong. */
async function countRefused(method: 'password' | 'code'): Promise<number> {
  const metric = await register.getSingleMetric('eps_panel_sign_ins_total')?.get();
  const value = metric?.values.find(
    ({ labels }) => labels.method === method && labels.outcome === 'refused',
  );
  return value?.value ?? 0;
}

/** How many were compared while `work` ran. */
async function comparedIn(method: 'password' | 'code', work: () => Promise<unknown>) {
  const before = await countRefused(method);
  await work();
  return (await countRefused(method)) - before;
}

/** A form that asks for a code only where the last one is too old. */
const END_OTHERS = '/panel/profile/sessions/end-others';

const codeFieldOf = (path: string) => (path === END_OTHERS ? 'confirmation-code' : 'code');

/** Uses up the wrong attempts that unknown devices may make. */
async function closeCodes(visitor: Visitor): Promise<void> {
  for (let wrong = 0; wrong < 10; wrong++) await sendCode(visitor, wrongCode(visitor));
}

describe('of all concurrent guesses, ten are compared', () => {
  test.each([
    ['after a password', 20, null, CODE_PATH, {}],
    ['with stolen sessions', 20, 11, END_OTHERS, {}],
    ['in forms of the profile', 2, 11, '/panel/profile/recovery-codes', { password: PASSWORD }],
  ] as const)('%s: codes and recovery codes', async (_, each, factorMinutesAgo, path, fields) => {
    const admin = await newAdmin();
    const cookies = await sessionsOf(admin, 10, factorMinutesAgo);
    const codes = [wrongCode(admin), 'AAAA-BBBB-CCCC-DDDD-EEEE-FFFF'];
    const guesses = cookies.flatMap(cookie =>
      Array.from({ length: each }, (__, index) => ({ cookie, code: codes[index % 2] ?? '' })),
    );
    const send = ({ cookie, code }: (typeof guesses)[number]) =>
      submit(service, path, { ...fields, [codeFieldOf(path)]: code }, { cookie });
    expect(await comparedIn('code', () => Promise.all(guesses.map(send)))).toBe(10);
    const right = await sendCode(admin, rightCode(admin));
    expect(right.statusCode).toBe(422);
    expect(textOf(right)).toContain(CLOSED);
    service.clock.now += 16 * MINUTE_MS;
    expect((await sendCode(admin, rightCode(admin))).statusCode).toBe(303);
  });

  test('in forms of the profile: passwords', async () => {
    const admin = await newAdmin();
    const cookies = await sessionsOf(admin, 10, 0);
    const send = (cookie: string) =>
      submit(
        service,
        '/panel/profile/recovery-codes',
        { password: WRONG_PASSWORD, code: rightCode(admin) },
        { cookie },
      );
    const guesses = [...cookies, ...cookies].map(cookie => () => send(cookie));
    expect(await comparedIn('password', () => Promise.all(guesses.map(guess => guess())))).toBe(10);
  });

  test('with a link that asks for the password', async () => {
    const admin = await newAdmin();
    const { token } = await linkFor(operatorOf(service), { userId: admin.userId }, 'factors');
    const path = `/panel/join/${token}`;
    const page = await open(service, path);
    const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
    const send = (password: string) =>
      submit(service, path, { password, secret, code: codeAt(secret, service.clock.now) });
    const guesses = Array.from({ length: 20 }, () => WRONG_PASSWORD);
    expect(await comparedIn('password', () => Promise.all(guesses.map(send)))).toBe(10);
    expect(textOf(await send(PASSWORD))).toContain('too many wrong passwords');
    service.clock.now += 16 * MINUTE_MS;
    expect((await send(PASSWORD)).statusCode).toBe(200);
  });

  test('five in one session', async () => {
    const admin = await newAdmin();
    const cookie = await addSession(service, admin, null);
    const code = wrongCode(admin);
    const guesses = Array.from(
      { length: 100 },
      () => () => submit(service, CODE_PATH, { code }, { cookie }),
    );
    expect(await comparedIn('code', () => Promise.all(guesses.map(guess => guess())))).toBe(5);
    expect((await sendCode(admin, rightCode(admin))).statusCode).toBe(303);
  });
});

test('a right password does not reset the count of failures', async () => {
  const admin = await newAdmin();
  const answers: number[] = [];
  const guess = async () => {
    const form = { email: admin.email, password: PASSWORD };
    const half = await submit(service, '/panel/sign-in', form);
    answers.push(half.statusCode);
    if (half.statusCode !== 303) return;
    await submit(service, CODE_PATH, { code: wrongCode(admin) }, { cookie: cookieOf(half) });
  };
  const compared = await comparedIn('code', async () => {
    for (let round = 0; round < 12; round++) await guess();
  });
  expect(compared).toBe(10);
  expect(answers).toEqual([...Array.from({ length: 10 }, () => 303), 422, 422]);
});

test('a right second factor resets the count of failures', async () => {
  const admin = await newAdmin();
  for (let round = 0; round < 3; round++) {
    for (let wrong = 0; wrong < 9; wrong++) await sendCode(admin, wrongCode(admin));
    service.clock.now += 30_000;
    expect((await sendCode(admin, rightCode(admin))).statusCode).toBe(303);
  }
});

test('so does a form that is refused after its proof was right', async () => {
  const [admin, other] = [await newAdmin(), await newAdmin()];
  for (let round = 0; round < 6; round++) {
    service.clock.now += 30_000;
    const proof = { password: PASSWORD, code: rightCode(admin) };
    const form = { email: other.email, ...proof };
    const taken = await submit(service, '/panel/profile/email', form, admin);
    expect(textOf(taken)).toContain('Somebody signs in with this e-mail already.');
  }
});

test('a device that has signed in before is not locked out', async () => {
  const admin = await newAdmin();
  const device = cookieOf(await sendCode(admin, rightCode(admin)), DEVICE_COOKIE);
  await closeCodes(admin);
  service.clock.now += 30_000;
  const refused = await sendCode(admin, rightCode(admin));
  expect(refused.statusCode).toBe(422);
  expect(textOf(refused)).toContain('at once on a device that you have signed in with before');
  expect((await sendCode(admin, rightCode(admin), device)).statusCode).toBe(303);
  service.clock.now += 30_000;
  const cookie = `${await addSession(service, admin, 11)}; ${device}`;
  const fields = { 'confirmation-code': rightCode(admin) };
  const confirmed = await submit(service, END_OTHERS, fields, { cookie });
  expect(confirmed.headers.location).toBe('/panel/profile');
  // Only the count of that device was reset.
  service.clock.now += 30_000;
  expect((await sendCode(admin, rightCode(admin))).statusCode).toBe(422);
});

test('a hundred wrong codes in a row lock the person out until a link is made', async () => {
  const admin = await newAdmin();
  for (let round = 0; round < 10; round++) {
    await closeCodes(admin);
    service.clock.now += 16 * MINUTE_MS;
  }
  expect(textOf(await sendCode(admin, rightCode(admin)))).toContain(CLOSED);
  service.clock.now += 24 * 60 * MINUTE_MS;
  expect((await sendCode(admin, rightCode(admin))).statusCode).toBe(422);
  const { token } = await linkFor(operatorOf(service), { userId: admin.userId }, 'password');
  const form = { password: 'another password that is long' };
  expect((await submit(service, `/panel/join/${token}`, form)).statusCode).toBe(303);
  expect((await sendCode(admin, rightCode(admin))).statusCode).toBe(303);
});

test('a link lets a device in again that has signed in before', async () => {
  const admin = await newAdmin();
  const device = cookieOf(await sendCode(admin, rightCode(admin)), DEVICE_COOKIE);
  for (let wrong = 0; wrong < 9; wrong++) await sendCode(admin, wrongCode(admin), device);
  const last = await sendCode(admin, wrongCode(admin), device);
  service.clock.now += 30_000;
  const refused = await sendCode(admin, rightCode(admin), device);
  expect(refused.statusCode).toBe(422);
  for (const answer of [last, refused]) {
    expect(textOf(answer)).toContain('wrong codes were entered for you on this device. Codes are');
    expect(textOf(answer)).not.toContain('that you have signed in with before');
  }
  const { token } = await linkFor(operatorOf(service), { userId: admin.userId }, 'password');
  const form = { password: 'another password that is long' };
  expect((await submit(service, `/panel/join/${token}`, form)).statusCode).toBe(303);
  expect((await sendCode(admin, rightCode(admin), device)).statusCode).toBe(303);
});

describe('a person whose codes were guessed at sees a warning', () => {
  test('in the panel until the password is changed, in the audit log and the log', async () => {
    const admin = await newAdmin();
    const warning = '10 wrong codes were entered for you, the last on';
    const read = async (path: string) =>
      textOf(await open(service, path, { cookie: await addSession(service, admin) }));
    const home = `/panel/merchants/${merchantId}`;
    for (let wrong = 0; wrong < 9; wrong++) await sendCode(admin, wrongCode(admin));
    expect(await read(home)).not.toContain(warning);
    await sendCode(admin, wrongCode(admin));
    expect(await read(home)).toContain(warning);
    expect(await read('/panel/profile')).toContain(warning);
    const entry = await service.db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'person.close-codes')
      .where('object_id', '=', admin.personId)
      .executeTakeFirstOrThrow();
    expect(entry).toMatchObject({ detail: { wrongCodes: 10 }, person_id: admin.personId });
    expect(entry.address).toMatch(/^10\./);
    expect(service.logs).toContainEqual(
      expect.objectContaining({ personId: admin.personId, level: 'warn' }),
    );
    service.clock.now += 16 * MINUTE_MS;
    const form = { 'new-password': 'another password that is long', password: PASSWORD };
    const path = '/panel/profile/password';
    const cookie = await addSession(service, admin);
    const changed = await submit(service, path, { ...form, code: rightCode(admin) }, { cookie });
    expect(changed.statusCode).toBe(303);
    expect(await read(home)).not.toContain(warning);
  });

  test('in a partner’s panel as well, for a week', async () => {
    const { partner } = await addPartner(service);
    const owner = await addPartnerUser(service, partner.id, 'owner');
    await closeCodes(owner);
    const read = async () => {
      const cookie = await addSession(service, owner);
      return textOf(await open(service, `/panel/partners/${partner.id}`, { cookie }));
    };
    expect(await read()).toContain('10 wrong codes were entered for you');
    service.clock.now += 8 * 24 * 60 * MINUTE_MS;
    expect(await read()).not.toContain('wrong codes');
  });
});
