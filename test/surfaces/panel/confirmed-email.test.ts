import { sql } from 'kysely';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { newCodeSecret } from '#accounts/people/codes.ts';
import { EMAIL_LINK_MS } from '#accounts/people/confirm-email.ts';
import { inviteUser, linkFor } from '#accounts/people/invitations.ts';
import { createUser, setUser } from '#accounts/users.ts';
import { findPerson, updatePerson } from '#storage/repositories/people/people.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  type MailServer,
  mailEnv,
  sendDueMail,
  startMailServer,
} from '../../helpers/mail-server.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  cookieOf,
  DEVICE_COOKIE,
  follow,
  open,
  PASSWORD,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';

/** Where mail is sent, an e-mail counts for somebody once they have opened the link in a mail to it. */

const OTHER = 'another password that is long';
const LINK = /https:\/\/pay\.example\.test(\/panel\/join\/[\w-]{43}\/email)\n/;

let service: TestApp;
let server: MailServer;
let merchantId: string;
/** An e-mail that nobody has. */
let free: string;
let serial = 0;

beforeAll(async () => {
  server = await startMailServer();
  service = await startTestApp({ env: mailEnv(server.port) });
  merchantId = (await addMerchant(service, { name: 'Blue Coffee' })).merchant.id;
});
afterAll(async () => {
  await service.close();
  await server.close();
});
beforeEach(() => {
  serial += 1;
  free = `free${serial}@example.com`;
});

/** Somebody whose e-mail is confirmed. */
const newAdmin = () => addMerchantUser(service, merchantId, 'admin', { withPassword: true });

/** An unused code: the clock moves to the next one. */
function nextCode(secret: string): string {
  service.clock.now += 30_000;
  return codeAt(secret, service.clock.now);
}

/** Joins as somebody new. */
async function join(email: string) {
  const user = { merchantId, name: 'Grace', email: `invited${serial}@example.com` };
  const { id } = await createUser(operatorOf(service), { ...user, role: 'admin' });
  const { token } = await inviteUser(operatorOf(service), id);
  const secret = newCodeSecret();
  const code = codeAt(secret, service.clock.now);
  const form = { email, password: OTHER, secret, code };
  const page = await submit(service, `/panel/join/${token}`, form);
  expect(page.statusCode).toBe(200);
  const own = { userId: id, secret, cookie: cookieOf(page) };
  return { ...own, page, device: cookieOf(page, DEVICE_COOKIE) };
}

/** Asks for another e-mail in the profile. */
function ask(person: Visitor, email: string) {
  const form = { email, password: PASSWORD, code: nextCode(person.secret) };
  return submit(service, '/panel/profile/email', form, person);
}

const tryPassword = (email: string, password: string, cookie = '') =>
  submit(service, '/panel/sign-in', { email, password }, { cookie });

/** Whether a password lets somebody go on to the code. */
async function isAdmitted(email: string, password: string, device?: string): Promise<boolean> {
  return (await tryPassword(email, password, device)).statusCode === 303;
}

/** Lets the worker send mail; returns the path of the last link that an e-mail got. */
async function receive(email: string): Promise<string> {
  await sendDueMail(service, server.port);
  return LINK.exec(server.to(email).at(-1)?.text ?? '')?.[1] ?? '';
}

/** IDs of the mails with a link to an e-mail that wait to be sent. */
async function linkMailsTo(email: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from mails where kind = 'email-link' and facts ->> 'email' = ${email}`.execute(
    service.db,
  );
  return rows.map(({ id }) => id);
}

/** Lets the worker send mail, and expects that it drops the one mail of the list. */
async function expectDropped(ids: readonly string[]): Promise<void> {
  await sendDueMail(service, server.port);
  const { db } = service;
  const mails = await db.selectFrom('mails').select('outcome').where('id', 'in', ids).execute();
  expect(mails).toEqual([{ outcome: 'dropped' }]);
}

/** A page without what differs from one request to the next. */
const plain = ({ body }: { body: string }) =>
  body.replaceAll(/[0-9a-f-]{36}|[A-Z2-7]{4}(-[A-Z2-7]{4}){5}|(free|invited)\d+|[\w-]+@/g, '…');

describe('somebody who has joined', () => {
  test('signs in with the device with which they joined, and with others once the link is opened', async () => {
    const { page, device, cookie } = await join(free);
    expect(textOf(page)).toContain(`A mail is on its way to ${free}.`);
    const profile = textOf(await open(service, '/panel/profile', { cookie }));
    expect(profile).toContain(`${free} is not confirmed`);
    expect(await isAdmitted(free, OTHER, device)).toBe(true);
    const refused = await tryPassword(free, OTHER);
    const unknown = await tryPassword('free0@example.com', OTHER);
    expect(refused.statusCode).toBe(unknown.statusCode);
    expect(plain(refused)).toBe(plain(unknown));

    const path = await receive(free);
    const form = await open(service, path);
    expect(textOf(form)).toContain(`you sign in with ${free}, and nobody else does`);
    expect(await isAdmitted(free, OTHER)).toBe(false);
    const wrong = await submit(service, path, { password: PASSWORD });
    expect(wrong.statusCode).toBe(422);
    expect(textOf(wrong)).toContain('This is not your password.');
    const confirmed = await submit(service, path, { password: OTHER });
    const next = await follow(service, confirmed, { cookie });
    expect(textOf(next)).toContain(`You sign in with ${free} from now on.`);
    expect(textOf(next)).not.toContain('not confirmed');
    expect(await isAdmitted(free.toUpperCase(), OTHER)).toBe(true);
    expect((await open(service, path)).statusCode).toBe(404);
    expect((await submit(service, path, { password: OTHER })).statusCode).toBe(404);
  });

  test('with the e-mail of somebody else takes nothing from them, and does not learn of them', async () => {
    const victim = await newAdmin();
    const [taken, other] = [await join(victim.email), await join(free)];
    expect(plain(taken.page)).toBe(plain(other.page));
    expect(await isAdmitted(victim.email, OTHER, taken.device)).toBe(true);
    expect(await isAdmitted(free, OTHER, other.device)).toBe(true);
    for (const email of [victim.email, free]) expect(await isAdmitted(email, OTHER)).toBe(false);
    expect(await isAdmitted(victim.email, PASSWORD)).toBe(true);
    expect(await receive(victim.email)).toBe('');
    const mail = server.to(victim.email).find(({ subject }) => subject === 'Confirm your e-mail');
    expect(mail?.text).toContain('with which you sign in already.');
    expect(mail?.text).not.toContain('://');
    expect(mail?.text).not.toContain('Grace');
    expect((await findPerson(service.db, victim.personId))?.email).toBe(victim.email);
  });

  test('gets no more guesses at the password of who has the e-mail', async () => {
    const [victim, thief] = [await newAdmin(), await newAdmin()];
    const unconfirmed = { email: victim.email, email_confirmed_at: null };
    await updatePerson(service.db, thief.personId, unconfirmed);
    for (let guess = 0; guess < 10; guess++) {
      await tryPassword(victim.email, 'a wrong password');
      // From a device that is not known, as the guesses.
      const half = { cookie: await addSession(service, thief, null) };
      const form = { code: nextCode(thief.secret) };
      expect((await submit(service, '/panel/sign-in/code', form, half)).statusCode).toBe(303);
    }
    expect(await isAdmitted(victim.email, PASSWORD)).toBe(false);
  });

  test('knows no device of who has the e-mail: codes from their own count as those of any other', async () => {
    const victim = await newAdmin();
    const devices = [(await join(victim.email)).device, (await join(victim.email)).device];
    const sendCode = async (code: string, device = '') => {
      const half = await addSession(service, victim, null);
      return submit(service, '/panel/sign-in/code', { code }, { cookie: `${half}; ${device}` });
    };
    expect((await sendCode(nextCode(victim.secret), devices[0])).statusCode).toBe(303);
    const signedIn = await service.db
      .selectFrom('audit_log')
      .select('detail')
      .where('action', '=', 'person.sign-in')
      .where('object_id', '=', victim.personId)
      .execute();
    expect(signedIn).toEqual([{ detail: expect.objectContaining({ device: 'new' }) }]);
    await sendDueMail(service, server.port);
    const subjects = server.to(victim.email).map(({ subject }) => subject);
    expect(subjects).toContain('You signed in with a new device');
    for (let wrong = 0; wrong < 10; wrong++) {
      await sendCode(wrongCodeAt(victim.secret, service.clock.now), devices[wrong % 2]);
    }
    expect((await sendCode(nextCode(victim.secret))).statusCode).toBe(422);
    expect((await findPerson(service.db, victim.personId))?.code_closed_at).not.toBeNull();
  });

  test('with their own e-mail still signs in with it in that browser, as on a device that is not known', async () => {
    const ada = await newAdmin();
    const { device, secret } = await join(ada.email);
    const half = await tryPassword(ada.email, PASSWORD, device);
    expect(half.statusCode).toBe(303);
    const code = { code: nextCode(ada.secret) };
    const cookie = `${cookieOf(half)}; ${device}`;
    const complete = await submit(service, '/panel/sign-in/code', code, { cookie });
    expect(complete.statusCode).toBe(303);
    expect(cookieOf(complete, DEVICE_COOKIE)).not.toBe(device);
    const mine = await open(service, '/panel/profile', { cookie: cookieOf(complete) });
    expect(textOf(mine)).not.toContain('not confirmed');

    // What the new person may reset does not count for them.
    for (let round = 0; round < 2; round++) {
      for (let wrong = 0; wrong < 5; wrong++) {
        await tryPassword(ada.email, 'a wrong password', device);
      }
      const own = await tryPassword(ada.email, OTHER, device);
      const form = { code: nextCode(secret) };
      const sender = { cookie: `${cookieOf(own)}; ${device}` };
      expect((await submit(service, '/panel/sign-in/code', form, sender)).statusCode).toBe(303);
    }
    expect(await isAdmitted(ada.email, PASSWORD, device)).toBe(false);
    expect(await isAdmitted(ada.email, PASSWORD)).toBe(false);
  });

  test('learns by wrong passwords in their browser of nobody else with the e-mail', async () => {
    const admin = await newAdmin();
    const seen = [];
    for (const email of [admin.email, free]) {
      const { device } = await join(email);
      const counters = async () => {
        const rows = service.db.selectFrom('sign_in_counters').select(['failures', 'in_row']);
        return (await rows.orderBy('began_at', 'desc').orderBy('in_row').execute()).slice(0, 2);
      };
      service.clock.now += 60_000;
      const hash = vi.spyOn(service.keyring, 'hash');
      const refused = await tryPassword(email, 'a wrong password', device);
      const hashed = hash.mock.calls.filter(([text]) => text === 'a wrong password').length;
      hash.mockRestore();
      expect(refused.statusCode).toBe(422);
      seen.push({ page: plain(refused), hashed, counters: await counters() });
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({ hashed: 2, counters: [{ failures: 1 }, { failures: 1 }] });
  });

  test('is named as not confirmed, and gets no mail of the account', async () => {
    const { userId, cookie, secret } = await join(free);
    const path = await receive(free);
    const before = server.to(free).length;
    const sender = { cookie };
    const home = async () => textOf(await open(service, `/panel/merchants/${merchantId}`, sender));
    expect(await home()).toContain('Your e-mail is not confirmed');
    const invite = async (email: string) => {
      const form = { name: 'Eve', email, role: 'admin', code: nextCode(secret) };
      const intent = crypto.randomUUID();
      const url = `/panel/merchants/${merchantId}/settings/team/invite`;
      expect((await submit(service, url, { ...form, intent }, sender)).statusCode).toBe(200);
    };
    const team = `/panel/merchants/${merchantId}/settings/team`;
    const named = `Signs in with ${free} not confirmed`;
    expect(textOf(await open(service, team, sender))).toContain(named);
    await invite(`eve${serial}@example.com`);
    await linkFor(operatorOf(service), { userId }, 'password');
    await sendDueMail(service, server.port);
    expect(server.to(free)).toHaveLength(before);
    const actors = async () => {
      const entries = await service.db
        .selectFrom('audit_log')
        .select('actor')
        .distinct()
        .where('actor', 'like', `${free}%`)
        .execute();
      return entries.map(({ actor }) => actor).toSorted();
    };
    expect(await actors()).toEqual([`${free} (not confirmed)`]);
    await submit(service, path, { password: OTHER });
    expect(await home()).not.toContain('Your e-mail is not confirmed');
    expect(textOf(await open(service, team, sender))).not.toContain(named);
    await invite(`eva${serial}@example.com`);
    expect(await actors()).toEqual([free, `${free} (not confirmed)`]);
    await linkFor(operatorOf(service), { userId }, 'password');
    await sendDueMail(service, server.port);
    expect(server.to(free).length).toBeGreaterThan(before);
  });

  test('and has lost the device gets the link again with one for a new password', async () => {
    const { userId } = await join(free);
    const first = await receive(free);
    const { token } = await linkFor(operatorOf(service), { userId }, 'password');
    const renewed = await submit(service, `/panel/join/${token}`, { password: PASSWORD });
    expect(renewed.statusCode).toBe(303);
    const second = await receive(free);
    expect(second).not.toBe(first);
    expect((await open(service, first)).statusCode).toBe(404);
    expect((await submit(service, second, { password: PASSWORD })).statusCode).toBe(303);
    expect(await isAdmitted(free, PASSWORD)).toBe(true);
  });

  test('gets the link again by a button, a few times in an hour', async () => {
    const { cookie } = await join(free);
    expect((await open(service, '/panel/profile', { cookie })).body).toContain(
      'action="/panel/profile/email/send"',
    );
    const first = await receive(free);
    const press = async () => {
      const asked = await submit(service, '/panel/profile/email/send', {}, { cookie });
      return textOf(await follow(service, asked, { cookie }));
    };
    expect(await press()).toContain(`A mail is on its way to ${free}.`);
    const second = await receive(free);
    expect((await open(service, first)).statusCode).toBe(404);
    for (let time = 0; time < 3; time++) await press();
    const last = await receive(free);
    expect(server.to(free)).toHaveLength(3);
    expect((await open(service, second)).statusCode).toBe(404);
    expect((await submit(service, last, { password: OTHER })).statusCode).toBe(303);
    expect(await press()).toContain(`You sign in with ${free} from now on.`);
    expect(await receive(free)).toBe(last);
    expect(server.to(free)).toHaveLength(3);
  });

  test('keeps nobody else with the same e-mail from the link, until seven have asked for all', async () => {
    const press = async (person: { cookie: string }) => {
      for (let time = 0; time < 4; time++) {
        await submit(service, '/panel/profile/email/send', {}, person);
      }
    };
    await press(await join(free));
    const admin = await newAdmin();
    await ask(admin, free);
    const path = await receive(free);
    expect(server.to(free)).toHaveLength(4);
    for (let others = 0; others < 6; others++) {
      const other = await newAdmin();
      await updatePerson(service.db, other.personId, { email: free, email_confirmed_at: null });
      await press(other);
    }
    await receive(free);
    expect(server.to(free)).toHaveLength(20);
    expect((await submit(service, path, { password: PASSWORD })).statusCode).toBe(303);
  });

  test('may choose another e-mail before, which works on the same device alone', async () => {
    const joined = await join(`wrong-${free}`);
    const form = await open(service, '/panel/profile/email', joined);
    expect(form.body).toContain(`value="wrong-${free}"`);
    expect(textOf(form)).toContain('You sign in with it at once on devices');
    expect(textOf(form)).not.toContain('all your other sessions end');
    const wrong = await receive(`wrong-${free}`);
    const sent = { email: free, password: OTHER, code: nextCode(joined.secret) };
    const browser = { cookie: `${joined.cookie}; ${joined.device}` };
    const asked = await submit(service, '/panel/profile/email', sent, browser);
    expect(asked.headers.location).toBe('/panel/profile');
    const said = `on its way to ${free}. This e-mail is not confirmed yet`;
    expect(textOf(await follow(service, asked, browser))).toContain(said);
    expect((await open(service, wrong)).statusCode).toBe(404);
    expect(await isAdmitted(free, OTHER, joined.device)).toBe(true);
    expect(await isAdmitted(free, OTHER)).toBe(false);
    expect((await submit(service, await receive(free), { password: OTHER })).statusCode).toBe(303);
    expect(await isAdmitted(free, OTHER)).toBe(true);
  });
});

describe('another e-mail', () => {
  test('holds once its link is opened; then the former one is told, and other sessions end', async () => {
    const admin = await newAdmin();
    const elsewhere = { cookie: await addSession(service, admin) };
    const page = await open(service, '/panel/profile/email', admin);
    expect(textOf(page)).toContain('A mail with a link is sent to the new e-mail.');
    const asked = await ask(admin, ` ${free} `);
    expect(textOf(await follow(service, asked, admin))).toContain(`on its way to ${free}.`);
    expect(await isAdmitted(admin.email, PASSWORD)).toBe(true);
    expect(await isAdmitted(free, PASSWORD)).toBe(false);
    const path = await receive(free);
    expect(server.to(admin.email)).toEqual([]);
    const { cookie } = admin;
    expect((await submit(service, path, { password: PASSWORD }, { cookie })).statusCode).toBe(303);
    expect(await isAdmitted(free, PASSWORD)).toBe(true);
    expect(await isAdmitted(admin.email, PASSWORD)).toBe(false);
    expect((await open(service, '/panel/profile', admin)).statusCode).toBe(200);
    expect((await open(service, '/panel/profile', elsewhere)).statusCode).toBe(303);
    await sendDueMail(service, server.port);
    expect(server.to(admin.email)[0]?.text).toContain(
      'The e-mail that you sign in with was changed: it is no longer this one, on',
    );
  });

  test('is asked for alike whether it is free, taken or asked for too often', async () => {
    const [admin, victim] = [await newAdmin(), await newAdmin()];
    const answers = [];
    for (const email of [free, victim.email, victim.email, victim.email, victim.email]) {
      const asked = await ask(admin, email);
      const { statusCode, headers } = asked;
      const said = /role="status">(.*?)<\/div>/.exec((await follow(service, asked, admin)).body);
      answers.push([statusCode, headers.location, said?.[1]?.replace(email, 'it')]);
    }
    const [first] = answers;
    expect(first?.[2]).toContain('A mail is on its way to it.');
    expect(answers).toEqual(answers.map(() => first));
    expect(await receive(victim.email)).toBe('');
    // The fourth within an hour is not sent.
    expect(server.to(victim.email)).toHaveLength(3);
    expect(await isAdmitted(victim.email, PASSWORD)).toBe(true);
  });

  test('that is taken is told to who has it, in their own language', async () => {
    const [admin, holder] = [await newAdmin(), await newAdmin()];
    await updatePerson(service.db, admin.personId, { language: 'en' });
    await updatePerson(service.db, holder.personId, { language: 'es' });
    await ask(admin, holder.email);
    expect(await receive(holder.email)).toBe('');
    expect(server.to(holder.email)[0]?.subject).toBe('Confirme su correo electrónico');
  });

  test('is for the first who opens a link to it', async () => {
    const [one, other] = [await newAdmin(), await newAdmin()];
    await ask(one, free);
    const first = await receive(free);
    await ask(other, free);
    const second = await receive(free);
    const answers = await Promise.all(
      [second, first].map(path => submit(service, path, { password: PASSWORD })),
    );
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 404]);
    const rows = await service.db
      .selectFrom('people')
      .select('id')
      .where('email', '=', free)
      .execute();
    expect(rows).toHaveLength(1);
  });

  test('ends the links of others to it, which then tell nothing of their passwords', async () => {
    const { cookie } = await join(free);
    const first = await receive(free);
    const admin = await newAdmin();
    await ask(admin, free);
    const path = await receive(free);
    expect((await submit(service, path, { password: PASSWORD })).statusCode).toBe(303);
    expect((await open(service, first)).statusCode).toBe(404);
    const [right, wrong] = [
      await submit(service, first, { password: OTHER }),
      await submit(service, first, { password: 'a wrong password' }),
    ];
    expect([right.statusCode, wrong.statusCode]).toEqual([404, 404]);
    expect(right.body).toBe(wrong.body);
    expect((await open(service, '/panel/profile', { cookie })).statusCode).toBe(200);
  });

  test('has a link for a day, until there is a newer one or the password changes', async () => {
    const admin = await newAdmin();
    await ask(admin, free);
    const first = await receive(free);
    service.clock.now += EMAIL_LINK_MS - 1;
    expect((await open(service, first)).statusCode).toBe(200);
    service.clock.now += 1;
    expect((await open(service, first)).statusCode).toBe(404);
    admin.cookie = await addSession(service, admin);
    await ask(admin, free);
    const second = await receive(free);
    await ask(admin, free);
    const third = await receive(free);
    expect((await open(service, second)).statusCode).toBe(404);
    expect((await open(service, third)).statusCode).toBe(200);
    const change = { 'new-password': OTHER, password: PASSWORD, code: nextCode(admin.secret) };
    await submit(service, '/panel/profile/password', change, admin);
    expect((await open(service, third)).statusCode).toBe(404);
  });

  test('has a link that others can end: by a new authenticator app, or a deactivation', async () => {
    const endings = [
      async ({ userId }: { userId: string }) => {
        const { token } = await linkFor(operatorOf(service), { userId }, 'factors');
        const secret = newCodeSecret();
        const form = { password: PASSWORD, secret, code: codeAt(secret, service.clock.now) };
        expect((await submit(service, `/panel/join/${token}`, form)).statusCode).toBe(200);
      },
      async ({ userId }: { userId: string }) => {
        await setUser(operatorOf(service), userId, { status: 'inactive' });
      },
    ];
    for (const end of endings) {
      const admin = await newAdmin();
      await ask(admin, free);
      const path = await receive(free);
      expect((await open(service, path)).statusCode).toBe(200);
      service.clock.now += 1;
      await end(admin);
      expect((await submit(service, path, { password: PASSWORD })).statusCode).toBe(404);
      expect((await findPerson(service.db, admin.personId))?.email).toBe(admin.email);
    }
  });

  const outdated: Record<string, (admin: Awaited<ReturnType<typeof newAdmin>>) => unknown> = {
    'a change of password': admin => {
      const proof = { password: PASSWORD, code: nextCode(admin.secret) };
      return submit(service, '/panel/profile/password', { 'new-password': OTHER, ...proof }, admin);
    },
    'a deactivation': ({ userId }) => setUser(operatorOf(service), userId, { status: 'inactive' }),
    'another e-mail': ({ personId }) =>
      updatePerson(service.db, personId, {
        email: `new-${free}`,
        email_confirmed_at: new Date(service.clock.now),
      }),
  };
  test.each(Object.entries(outdated))('gets no link that is sent after %s', async (_, change) => {
    const admin = await newAdmin();
    expect((await ask(admin, free)).statusCode).toBe(303);
    const asked = await linkMailsTo(free);
    service.clock.now += 1;
    await change(admin);
    await expectDropped(asked);
    expect(server.to(free)).toEqual([]);
  });

  test('keeps its link when the mail to a former choice is tried again', async () => {
    const admin = await newAdmin();
    await ask(admin, `former-${free}`);
    const dueAt = new Date(service.clock.now + 120_000);
    const [former = ''] = await linkMailsTo(`former-${free}`);
    await service.db.updateTable('mails').set({ due_at: dueAt }).where('id', '=', former).execute();
    await ask(admin, free);
    const path = await receive(free);
    service.clock.now += 120_000;
    await expectDropped([former]);
    expect(server.to(`former-${free}`)).toEqual([]);
    expect((await open(service, path)).statusCode).toBe(200);
  });

  test('is not sent a link a day late', async () => {
    const admin = await newAdmin();
    expect((await ask(admin, free)).statusCode).toBe(303);
    const asked = await linkMailsTo(free);
    service.clock.now += EMAIL_LINK_MS + 1;
    await expectDropped(asked);
    expect(server.to(free)).toEqual([]);
  });

  test('of two concurrent uses of its link, one succeeds, and only the mail has its token', async () => {
    const admin = await newAdmin();
    await ask(admin, free);
    const path = await receive(free);
    const token = /join\/([\w-]+)/.exec(path)?.[1] ?? '';
    const send = () => submit(service, path, { password: PASSWORD });
    const answers = await Promise.all([send(), send()]);
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 404]);
    const { rows } = await sql<{ text: string }>`
      select (select json_agg(m)::text from mails m) || (select json_agg(l)::text from email_links l)
        || (select json_agg(a)::text from audit_log a) as text`.execute(service.db);
    expect(rows[0]?.text).toContain('person.ask-email');
    expect(rows[0]?.text + JSON.stringify(service.logs)).not.toContain(token);
  });
});

test('where no mail is sent any more, naming an e-mail again confirms it', async () => {
  const silent = await startTestApp({ beside: service });
  onTestFinished(() => silent.close());
  const admin = await newAdmin();
  const { email, personId } = admin;
  await updatePerson(service.db, personId, { email_confirmed_at: null });
  const home = textOf(await open(silent, `/panel/merchants/${merchantId}`, admin));
  expect(home).toContain('Your e-mail is not confirmed: name it again by “Change e-mail”');
  const profile = await open(silent, '/panel/profile', admin);
  expect(textOf(profile)).toContain(
    `${email} is not confirmed: until you name it again by “Change e-mail”, you sign in only`,
  );
  for (const page of [home, textOf(profile)]) expect(page).not.toContain('open the link');
  const form = { email, password: PASSWORD, code: nextCode(admin.secret) };
  expect((await submit(silent, '/panel/profile/email', form, admin)).statusCode).toBe(303);
  expect((await findPerson(service.db, personId))?.email_confirmed_at).not.toBeNull();
  expect(textOf(await open(silent, '/panel/profile', admin))).not.toContain('not confirmed');
});

test('an e-mail that the previous release writes counts as confirmed', async () => {
  const insert = (email: string) =>
    sql`
      insert into people (id, name, email, created_at) values (gen_random_uuid(), 'Ada', ${email}, now())
      returning email_confirmed_at is not null as "isConfirmed"`.execute(service.db);
  expect((await insert(free)).rows).toEqual([{ isConfirmed: true }]);
  await expect(insert(free.toUpperCase())).rejects.toThrow('people_confirmed_email');
});

test.each(['short', 'x'.repeat(43)])('the link %s looks like one that was used', async token => {
  const page = await open(service, `/panel/join/${token}/email`);
  expect(page.statusCode).toBe(404);
  expect(textOf(page)).toContain('This link does not work any more');
});
