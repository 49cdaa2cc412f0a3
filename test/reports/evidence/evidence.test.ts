import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import type { SignedEvidence } from '#reports/evidence/document.ts';
import { openSigningKey } from '#reports/evidence/keys.ts';
import { verifyEvidence } from '#reports/evidence/verify.ts';
import { keepResponses, listEvidenceKeys } from '#storage/repositories/deposits/evidence.ts';
import { mpHere, type Operated, startOperated } from '../../cli/mp.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { simulate } from '../../helpers/simulate.ts';

const GUIDE = resolve(import.meta.dirname, '../../../src/surfaces/docs/guides/evidence.md');
const run = promisify(execFile);

let service: Operated;
let shop: MerchantWithKey;
let folder: string;
let file: string;
let paymentId: string;
let signed: SignedEvidence;

beforeAll(async () => {
  service = await startOperated();
  shop = await addMerchant(service);
  folder = await mkdtemp(join(tmpdir(), 'eps-evidence-'));
  file = join(folder, 'evidence.json');
  await createEndpoint(operatorOf(service), service.keyring, {
    merchantId: shop.merchant.id,
    url: 'https://hooks.example/secret-path?token=secret-query',
    allowPrivateAddresses: true,
  });
  const { prompt, checkoutUrl } = await createPrompt(service, shop, { amount: 5000 });
  paymentId = prompt.id;
  const { deposits } = await simulate(service, paymentId, 'confirm', new Date());
  await keepResponses(service.db, [
    {
      blockchain_id: deposits[0]?.blockchain_id ?? '',
      transaction_hash: deposits[0]?.transaction_hash ?? '',
      node: 'node.example',
      answers: '[{"method":"getrawtransaction","result":{"vout":0.1}}]',
      recorded_at: new Date(),
    },
  ]);
  expect((await mpHere(['payment', 'evidence', paymentId, '--out', file], service.env)).err).toBe(
    '',
  );
  signed = JSON.parse(await readFile(file, 'utf8'));
  expect(await readFile(file, 'utf8')).not.toContain(checkoutUrl.split('/').at(-1) ?? '');
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

test('it has the payment, its moves, its deposits with the nodes’ responses, and its events', () => {
  const { evidence } = signed;
  expect(evidence).toMatchObject({
    version: 1,
    service: 'https://pay.example.test',
    merchantId: shop.merchant.id,
    environment: 'live',
    payment: { id: paymentId, status: 'successful', amount: 5000 },
    transitions: [{ to: { sessionStatus: 'completed' } }, { to: { status: 'successful' } }],
    deposits: [
      {
        state: 'final',
        outcome: 'exact',
        source: 'simulation',
        confirmations: null,
        settledBy: { node: 'node.example', answers: expect.stringContaining('0.1') },
      },
    ],
  });
  expect(evidence.events).toHaveLength(3);
  expect(evidence.events[0]).toMatchObject({
    type: 'payment_prompt.created',
    deliveries: [{ to: 'https://hooks.example', status: 'pending', attempts: [] }],
  });
});

test('it has no secret', () => {
  const text = JSON.stringify(signed);
  for (const secret of [shop.secret, shop.passphrase, 'secret-path', 'secret-query', 'whsec_']) {
    expect(text).not.toContain(secret);
  }
});

/** Writes a document to a separate file, and verifies that. */
async function verifyText(content: string | Buffer, ...args: string[]) {
  const other = join(folder, 'other.json');
  await writeFile(other, content);
  return mpHere(['evidence', 'verify', other, ...args], service.env);
}

/** Inserts a member before the signed amount. */
function twice(member: string) {
  return (text: string) => {
    expect(text).toContain('"amount": 5000');
    return text.replace('"amount": 5000', `${member}, $&`);
  };
}

describe('mp evidence verify', () => {
  test('says what a document is about', async () => {
    const verified = await service.ask('evidence', 'verify', file);
    expect(verified).toMatchObject({ valid: true, paymentId, status: 'successful' });
  });

  test('takes a folder of documents, and names those that prove nothing', async () => {
    const documents = join(folder, 'documents');
    await mkdir(documents);
    await writeFile(join(documents, 'a.json'), JSON.stringify(signed));
    await writeFile(join(documents, 'notes.txt'), 'no document');
    const verify = (...args: string[]) =>
      mpHere(['evidence', 'verify', documents, ...args], service.env);
    expect(await verify()).toMatchObject({ status: 0, out: expect.stringContaining('1 of 1 are') });
    await writeFile(join(documents, 'b.json'), '{}');
    const { status, out } = await verify('--json');
    expect(status).toBe(1);
    expect(JSON.parse(out)).toEqual([
      expect.objectContaining({ file: join(documents, 'a.json'), valid: true, paymentId }),
      {
        file: join(documents, 'b.json'),
        valid: false,
        reason: expect.stringContaining('proves nothing'),
      },
    ]);
    expect((await verify('--csv', 'a.csv')).err).toContain('belongs to one document');
    await rm(documents, { recursive: true });
    await mkdir(documents);
    expect((await verify()).err).toBe(`${documents} has no files .json and .jsonl.\n`);
  });

  test('accepts a document whose members are in another order', async () => {
    const { evidence, ...rest } = signed;
    const turned = Object.fromEntries(Object.entries(evidence).reverse());
    const { status } = await verifyText(JSON.stringify({ ...rest, evidence: turned }));
    expect(status).toBe(0);
  });

  test.each([
    ['another amount', (text: string) => text.replace('"amount": 5000', '"amount": 5001')],
    ['another state', (text: string) => text.replace('"final"', '"seen"')],
    ['another key', (text: string) => text.replace(/"mpe_\w+"/, '"mpe_0"')],
    [
      'another signature',
      (text: string) =>
        text.replace(
          /"signature": "(.)/,
          (_, first) => `"signature": "${first === 'A' ? 'B' : 'A'}`,
        ),
    ],
    ['nothing', () => '{}'],
    ['no JSON', () => 'paid'],
    ['null', () => 'null'],
    ['a member twice', twice('"amount": 5001')],
    ['a member twice, spelled otherwise', twice('"\\u0061mount": 5001')],
    ['the whole evidence twice', (text: string) => text.replace('{', '{ "evidence": {},')],
    ['a number in another spelling', (text: string) => text.replace('": 5000', '": 5e3')],
    ['more digits than are read', (text: string) => text.replace('": 5000', '$&.0000000000000001')],
    ['a member beside the signed ones', (text: string) => text.replace('{', '{ "note": "paid",')],
    ['something behind it', (text: string) => `${text}{}`],
    ['a NUL behind it', (text: string) => `${text}\0`],
    ['a byte-order mark before it', (text: string) => `\uFEFF${text}`],
    ['bytes that are no text', (text: string) => Buffer.from([...Buffer.from(text), 0xff])],
    [
      'something behind the signature',
      (text: string) => text.replace(/("signature": "[^"]+)"/, '$1AAAA"'),
    ],
    ['a signature with a blank', (text: string) => text.replace('"signature": "', '$& ')],
  ])('refuses %s, in one line', async (_, change) => {
    const text = JSON.stringify(signed, null, 2);
    const { status, out, err } = await verifyText(change(text));
    expect({ status, out }).toEqual({ status: 1, out: '' });
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});

test.each([
  ['a long string', JSON.stringify('a'.repeat(20_000_000)), 'is not among the public keys'],
  ['many escapes', JSON.stringify('"'.repeat(2_000_000)), 'is not among the public keys'],
  ['many spaces', `"a"${' '.repeat(5_000_000)}`, 'is not among the public keys'],
  ['many levels', '['.repeat(200_000) + ']'.repeat(200_000), 'It is nested too deeply.'],
  ['open strings', '"\\'.repeat(1_000_000), 'It is no JSON.'],
])('a hostile document of %s is refused soon', (_, value, why) => {
  const text = `{"evidence":{"a":${value}},"signature":"AA==","keyId":"k"}`;
  const began = performance.now();
  expect(() => verifyEvidence(Buffer.from(text), [])).toThrow(why);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test.each([
  ['RSA', { kty: 'RSA', n: 'AQAB', e: 'AQAB' }],
  ['another curve', { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(43) }],
  ['an elliptic curve', { kty: 'EC', crv: 'P-256', x: 'AA' }],
  ['a key cut short', { kty: 'OKP', crv: 'Ed25519', x: 'AA' }],
  ['no key at all', {}],
])('a public key that is %s is refused in one plain line', async (_, key) => {
  const keys = join(folder, 'other-keys.json');
  await writeFile(keys, JSON.stringify({ keys: [null, 'key', { ...key, kid: signed.keyId }] }));
  const { status, out, err } = await mpHere(['evidence', 'verify', file, '--keys', keys]);
  expect({ status, out }).toEqual({ status: 1, out: '' });
  expect(err).toBe(`${file} proves nothing. The public key ${signed.keyId} is no Ed25519 key.\n`);
});

test('the public keys are publicly available, and suffice', async () => {
  const response = await service.app.inject({ url: '/.well-known/jwks.json' });
  expect(response.headers['content-type']).toContain('application/jwk-set+json');
  const keys = join(folder, 'jwks.json');
  await writeFile(keys, response.body);
  const { status } = await mpHere(['evidence', 'verify', file, '--keys', keys]);
  expect(status).toBe(0);
  expect(response.json().keys).toEqual([
    {
      kty: 'OKP',
      crv: 'Ed25519',
      use: 'sig',
      alg: 'EdDSA',
      kid: signed.keyId,
      x: expect.stringMatching(/^[\w-]{43}$/),
    },
  ]);
});

test('the guide’s program verifies it unchanged', async () => {
  const [, code = ''] = /```js\n(.*?)^```$/ms.exec(await readFile(GUIDE, 'utf8')) ?? [];
  const program = join(folder, 'verify.mjs');
  const keys = join(folder, 'keys.json');
  const wrong = join(folder, 'wrong.json');
  await writeFile(program, code);
  await writeFile(keys, (await service.app.inject({ url: '/.well-known/jwks.json' })).body);
  await writeFile(wrong, JSON.stringify(signed).replace('"amount":5000', '"amount":5001'));
  const { stdout } = await run(process.execPath, [program, file, keys]);
  expect(stdout).toBe(`${paymentId} successful\n`);
  await expect(run(process.execPath, [program, wrong, keys])).rejects.toMatchObject({
    stdout: 'changed\n',
  });
  const text = JSON.stringify(signed);
  for (const doubtful of [
    text.replace('"amount":5000', '"amount":5001,$&'),
    text.replace('"amount":5000', '$&.0000000000000001'),
    text.replace('{', '{"note":"paid",'),
    text.replace(/("signature":"[^"]+)"/, '$1AAAA"'),
  ]) {
    await writeFile(wrong, doubtful);
    await expect(run(process.execPath, [program, wrong, keys])).rejects.toMatchObject({
      stdout: 'changed\n',
    });
  }
});

test('two concurrent signatures create one key', async () => {
  const other = await startOperated();
  const { db, keyring, clock } = other;
  const keys = await Promise.all([
    openSigningKey(db, keyring, clock),
    openSigningKey(db, keyring, clock),
  ]);
  expect(keys[0]?.id).toBe(keys[1]?.id);
  const rows = await listEvidenceKeys(db);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.private_key.toString()).not.toContain('PRIVATE KEY');
  await other.close();
});

test('it is audited', async () => {
  const entries = await service.ask<{ action: string }[]>('audit', '--object', paymentId);
  expect(entries[0]).toMatchObject({ action: 'payment.evidence', actor: 'alice' });
});
