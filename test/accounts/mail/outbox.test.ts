import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { register } from 'prom-client';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { tellPerson } from '#accounts/mail/notices.ts';
import { ATTEMPTS_MAXIMUM, RETRY_PAUSES_MS } from '#accounts/mail/outbox.ts';
import { openMailServer } from '#accounts/mail/send.ts';
import { claimMail } from '#storage/repositories/mails.ts';
import { updatePerson } from '#storage/repositories/people/people.ts';
import { writeMail } from '#surfaces/panel/mails.ts';
import { sendMailLoop } from '#worker/send-mail.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { mailSettings, sendDueMail, startMailServer } from '../../helpers/mail-server.ts';
import { addPerson, type Visitor } from '../../helpers/panel.ts';

const MINUTE_MS = 60_000;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

async function start(options: SMTPServerOptions = {}) {
  const server = await startMailServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Somebody with a pending mail. */
async function addMail(): Promise<Visitor> {
  const person = await addPerson(service);
  const now = new Date(service.clock());
  const facts = { at: now.toISOString(), address: '192.0.2.7' };
  await tellPerson(service.db, person.personId, { kind: 'sign-in', facts, now });
  return person;
}

const work = (port: number, url?: string) => sendDueMail(service, port, url);

const stateOf = ({ personId }: Visitor) =>
  service.db
    .selectFrom('mails')
    .select(['outcome', 'attempts', 'due_at', 'email', 'facts'])
    .where('person_id', '=', personId)
    .executeTakeFirstOrThrow();

async function countAttempts(outcome: string): Promise<number> {
  const metric = await register.getSingleMetric('eps_mail_attempts_total')?.get();
  const values = metric?.values.filter(({ labels }) => labels.outcome === outcome) ?? [];
  return values.reduce((sum, { value }) => sum + value, 0);
}

test('a mail arrives once, as plain text that links only to the panel', async () => {
  const server = await start();
  const person = await addMail();
  const sent = await countAttempts('sent');
  await work(server.port);
  await work(server.port);
  const [mail] = server.mails;
  expect(server.mails).toHaveLength(1);
  expect(mail).toMatchObject({ from: 'payments@example.com', to: [person.email], user: undefined });
  expect(mail?.headers).toMatchObject({
    from: 'Blue Payments <payments@example.com>',
    to: `Ada <${person.email}>`,
    'content-type': 'text/plain; charset=utf-8',
    'auto-submitted': 'auto-generated',
  });
  expect(mail?.text).toContain('on 2026-05-17 at 12:00 UTC, from 192.0.2.7.');
  expect(mail?.text.match(/https?:\S+/g)).toEqual(['https://pay.example.test/panel/profile']);
  // Its contents are erased.
  const ended = { outcome: 'sent', attempts: 1, due_at: null, email: null, facts: {} };
  expect(await stateOf(person)).toEqual(ended);
  expect(await countAttempts('sent')).toBe(sent + 1);
});

test('while the server is down it waits, and is sent later', async () => {
  const closed = await startMailServer();
  await closed.close();
  const person = await addMail();
  const began = service.clock.now;
  await work(closed.port);
  const dueAt = new Date(began + (RETRY_PAUSES_MS[0] ?? 0));
  expect(await stateOf(person)).toMatchObject({ outcome: null, attempts: 1, due_at: dueAt });
  const line = service.logs.findLast(({ kind }) => kind === 'sign-in');
  expect(line).toMatchObject({ attempt: 1, code: 'ESOCKET', responseCode: null });
  const server = await start();
  await work(server.port);
  expect(server.mails).toEqual([]);
  service.clock.now = dueAt.getTime();
  await work(server.port);
  expect(server.to(person.email)).toHaveLength(1);
});

test('it goes to the e-mail that the person had when it was written', async () => {
  const server = await start();
  const person = await addMail();
  await updatePerson(service.db, person.personId, { email: 'thief@example.com' });
  await work(server.port);
  expect(server.mails.flatMap(({ to }) => to)).toEqual([person.email]);
});

test('two concurrent workers send one mail each', async () => {
  const server = await start();
  const people = [await addMail(), await addMail(), await addMail()];
  await Promise.all([work(server.port), work(server.port), work(server.port), work(server.port)]);
  const arrived = server.mails.flatMap(({ to }) => to);
  expect(arrived.toSorted()).toEqual(people.map(({ email }) => email).toSorted());
});

test('a rejected recipient is given up after some attempts, and counted', async () => {
  const refused = await addMail();
  const server = await start({
    onRcptTo: ({ address }, _session, done) =>
      done(
        address === refused.email
          ? Object.assign(new Error(`no ${address} here`), { responseCode: 550 })
          : null,
      ),
  });
  const given = await countAttempts('given-up');
  for (let attempt = 1; attempt <= ATTEMPTS_MAXIMUM; attempt++) {
    expect(await stateOf(refused)).toMatchObject({ outcome: null, attempts: attempt - 1 });
    await work(server.port);
    service.clock.now += RETRY_PAUSES_MS[attempt - 1] ?? 0;
  }
  expect(await stateOf(refused)).toMatchObject({ outcome: 'given-up', attempts: 8, facts: {} });
  expect(await countAttempts('given-up')).toBe(given + 1);
  expect(JSON.stringify(service.logs)).not.toContain(refused.email);
  // It holds up nobody else.
  const other = await addMail();
  await work(server.port);
  expect(server.mails.flatMap(({ to }) => to)).toEqual([other.email]);
});

test('a worker that dies before it has recorded a mail leaves it to another', async () => {
  const server = await start();
  const person = await addMail();
  const now = new Date(service.clock());
  const until = new Date(now.getTime() + 2 * MINUTE_MS);
  expect(await claimMail(service.db, now, until)).toMatchObject({
    person: { email: person.email },
  });
  await work(server.port);
  expect(server.mails).toEqual([]);
  service.clock.now = until.getTime();
  await work(server.port);
  expect(server.to(person.email)).toHaveLength(1);
  expect(await stateOf(person)).toMatchObject({ outcome: 'sent', attempts: 2 });
});

test('a silent server delays the stop of a worker by no more than its timeout', async () => {
  const silent = createServer(socket => void socket.on('error', () => undefined));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => void silent.close());
  const controller = new AbortController();
  const send = await openMailServer(mailSettings((silent.address() as AddressInfo).port));
  const letter = {
    id: 'one',
    to: { name: 'Ada', email: 'ada@example.com' },
    subject: '',
    text: '',
  };
  const sending = send(letter, controller.signal);
  await once(silent, 'connection');
  controller.abort();
  await expect(sending).rejects.toThrow('the mail was not taken');
});

test('without a mail server no mail is queued for a later one', async () => {
  const person = await addMail();
  const { db, clock, keyring } = service;
  const loop = sendMailLoop({
    db,
    clock,
    keyring,
    logger: { warn: () => undefined },
    mail: null,
    writeMail,
  });
  await loop.run(new AbortController().signal, () => undefined);
  expect(await stateOf(person)).toMatchObject({ outcome: 'dropped', attempts: 0, facts: {} });
});

describe('TLS', () => {
  let directory: string;
  let credentials: { key: string; cert: string };
  const trusted = tls.getCACertificates('default');
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'eps-mail-tls-'));
    const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mail
      -addext subjectAltName=IP:127.0.0.1,DNS:localhost.localdomain -keyout key.pem -out cert.pem`;
    execFileSync('openssl', command.split(/\s+/), { cwd: directory, stdio: 'ignore' });
    credentials = { key: read('key.pem'), cert: read('cert.pem') };
  });
  afterAll(() => {
    tls.setDefaultCACertificates(trusted);
    rmSync(directory, { recursive: true });
  });

  const authenticating: SMTPServerOptions = {
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss' ? done(null, { user: username }) : done(new Error('wrong')),
  };

  test('smtps: accepts a trusted certificate, and a password', async () => {
    const server = await start({ ...credentials, ...authenticating, secure: true });
    const url = `smtps://ada:p%40ss@127.0.0.1:${server.port}`;
    const person = await addMail();
    tls.setDefaultCACertificates(trusted);
    await work(server.port, url);
    expect(server.mails).toEqual([]);
    tls.setDefaultCACertificates([...trusted, credentials.cert]);
    service.clock.now += MINUTE_MS;
    await work(server.port, url.replace('p%40ss', 'other'));
    expect(server.mails).toEqual([]);
    service.clock.now += 5 * MINUTE_MS;
    await work(server.port, url);
    expect(server.mails).toMatchObject([{ to: [person.email], secure: true, user: 'ada' }]);
  });

  test('smtp: uses STARTTLS beyond loopback, and sends nothing without', async () => {
    tls.setDefaultCACertificates([...trusted, credentials.cert]);
    const starts = await start({ ...credentials, disabledCommands: [] });
    const plain = await start();
    const person = await addMail();
    const settings = (port: number) => {
      const { server, ...mail } = mailSettings(port, `smtp://mail.example.com:${port}`);
      expect(server.tls).toBe('starttls');
      return { ...mail, server: { ...server, host: '127.0.0.1' } };
    };
    const letter = {
      id: person.personId,
      to: { name: 'Ada', email: person.email },
      subject: 'About “Ada”',
      text: 'Nothing.\n',
    };
    const { signal } = new AbortController();
    const plainly = await openMailServer(settings(plain.port));
    await expect(plainly(letter, signal)).rejects.toThrow('ETLS');
    expect(plain.mails).toEqual([]);
    const safely = await openMailServer(settings(starts.port));
    await safely(letter, signal);
    expect(starts.mails).toMatchObject([{ secure: true, subject: 'About “Ada”' }]);
  });
});
