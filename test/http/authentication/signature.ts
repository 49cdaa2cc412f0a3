import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { expectRefusal } from '../../helpers/refusal.ts';
import type { Subject } from './battery.ts';
import { createMerchantAccount, type Delivery, partsOf } from './subject.ts';

const SOME_KEY_ID = `mpk_${'0'.repeat(24)}`;

/** E2004 and E2007. */
export function testSignature(subject: Subject): void {
  test('responds to an unknown key ID and a wrong passphrase with the same bytes', async () => {
    const answers = [];
    for (const headers of [
      { 'x-mp-key-id': SOME_KEY_ID },
      { 'x-mp-key-id': 'not even a key ID \u00fe' },
      { 'x-mp-passphrase': 'wrong' },
      { 'x-mp-passphrase': `${subject.account.credentials.passphrase}=` },
    ]) {
      const answer = await subject.send({ headers });
      const { requestId } = expectRefusal(answer, 'E2004');
      const { 'x-request-id': _id, date: _date, ...rest } = answer.headers;
      answers.push({ body: answer.body.replace(requestId, ''), headers: rest });
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  const sent = () => partsOf(subject.route, subject.account);
  const alterations: [string, () => Partial<Delivery>][] = [
    ['the method', () => ({ signed: { method: sent().method === 'GET' ? 'POST' : 'GET' } })],
    ['the path', () => ({ signed: { path: sent().path.replace('external', 'External') } })],
    ['a query that is not sent', () => ({ signed: { path: `${sent().path}?limit=1` } })],
    [
      'the query, which is not signed',
      () => ({
        parts: { ...sent(), path: `${sent().path}?limit=1` },
        signed: { path: sent().path },
      }),
    ],
    ['the body', () => ({ signed: { body: sent().body === '' ? '{}' : `${sent().body} ` } })],
    ['the timestamp', () => ({ signed: { timestamp: subject.service.clock() + 1000 } })],
    ['the nonce', () => ({ signed: { nonce: 'another' } })],
    ['the secret', () => ({ signed: { secret: `mps_${'0'.repeat(64)}` } })],
    [
      'the secret without its prefix',
      () => ({ signed: { secret: subject.account.credentials.secret.slice(4) } }),
    ],
  ];
  test.each(alterations)('refuses a signature with a difference in: %s', async (_name, change) => {
    expectRefusal(await subject.send(change()), 'E2007');
  });

  test('refuses a body one bit away from the signed one', async () => {
    const { body } = sent();
    if (body === '') return;
    for (const place of [0, body.length >> 1, body.length - 1]) {
      const changed = Buffer.from(body);
      changed[place] = (changed[place] ?? 0) ^ 1;
      const answer = await subject.send({ signed: { body: changed.toString('latin1') } });
      expectRefusal(answer, 'E2007');
    }
  });

  test.each<[string, (hex: string) => string]>([
    ['in upper case', hex => hex.toUpperCase()],
    ['in base64', hex => Buffer.from(hex, 'hex').toString('base64')],
    ['cut short by one', hex => hex.slice(0, -1)],
    ['cut short by a byte', hex => hex.slice(0, -2)],
    ['with a byte more', hex => `${hex}00`],
    ['twice', hex => `${hex}, ${hex}`],
    ['of zeros', hex => '0'.repeat(hex.length)],
    ['that is no hex', hex => 'g'.repeat(hex.length)],
  ])('refuses a signature %s', async (_name, spell) => {
    const { service, account } = subject;
    const nonce = crypto.randomUUID();
    const [timestamp, parts] = [String(service.clock() / 1000), sent()];
    const canonical = `${timestamp}\n${nonce}\n${parts.method}\n${parts.path}\n${parts.body}`;
    const key = await crypto.subtle.importKey(
      'raw',
      Buffer.from(account.credentials.secret),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    );
    const bytes = await crypto.subtle.sign('HMAC', key, Buffer.from(canonical));
    const hex = Buffer.from(bytes).toString('hex');
    const headers = { 'x-mp-signature': spell(hex) };
    const error = expectRefusal(await subject.send({ nonce, headers }), 'E2007');
    const digest = createHash('sha256').update(canonical).digest('hex');
    expect(error.message).toContain(digest);
    expect(error.message).not.toContain(account.credentials.secret.slice(4));
    // Only the spelling was wrong.
    subject.expectPassed(await subject.send({ nonce, headers: { 'x-mp-signature': hex } }));
  });

  test('refuses another key’s secret, even of the same account', async () => {
    const { account, service } = subject;
    const sibling = await subject.newKey();
    const stranger = await createMerchantAccount(service);
    for (const { credentials } of [sibling, stranger]) {
      const { secret, passphrase } = credentials;
      expectRefusal(await subject.send({ signed: { secret } }, account), 'E2007');
      const headers = { 'x-mp-passphrase': passphrase };
      expectRefusal(await subject.send({ signed: { secret }, headers }, account), 'E2004');
    }
  });
}
