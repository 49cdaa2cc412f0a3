import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explainSignature } from '#accounts/keys/explain-signature.ts';
import { rotateKey } from '#accounts/keys/manage-keys.ts';
import { signingHeaders } from '#client/index.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { expectRefusal } from '../../helpers/refusal.ts';

const PATH = '/external/v1/payments?limit=5&status=pending';
const NONCE = '7c0e1f4a-3b52-4d6c-9a8e-5f1b2c3d4e5f';

/** Sends a list request signed over any `message`, and returns the refusal. */
async function refusalOf(
  { app, clock }: TestApp,
  shop: MerchantWithKey,
  sign: (timestamp: string) => string,
): Promise<string> {
  const headers = signingHeaders(shop, { method: 'GET', path: PATH, now: clock(), nonce: NONCE });
  const right = headers['x-mp-signature'] ?? '';
  headers['x-mp-signature'] = sign(headers['x-mp-timestamp'] ?? '');
  const answer = await app.inject({ method: 'GET', url: PATH, headers });
  const { message } = expectRefusal(answer, 'E2007');
  for (const hidden of [shop.secret, shop.secret.slice(4), shop.passphrase, right]) {
    expect(answer.body).not.toContain(hidden);
  }
  return message;
}

const hmac = (key: string, message: string) =>
  createHmac('sha256', key).update(message).digest('hex');
const canonical = (timestamp: string, path = PATH) => `${timestamp}\n${NONCE}\nGET\n${path}\n`;

type Sign = (shop: MerchantWithKey) => (timestamp: string) => string;
const MISTAKES: readonly (readonly [name: string, sign: Sign, says: string])[] = [
  [
    'the path without its query',
    ({ secret }) =>
      time =>
        hmac(secret, canonical(time, '/external/v1/payments')),
    `with the path without its query. Sign path and query exactly as they are sent: "${PATH}".`,
  ],
  [
    'the whole URL',
    ({ secret }) =>
      time =>
        hmac(secret, canonical(time, `http://localhost:80${PATH}`)),
    'with the whole URL in place of its path.',
  ],
  [
    'the passphrase',
    ({ passphrase }) =>
      time =>
        hmac(passphrase, canonical(time)),
    'with the passphrase in place of the secret.',
  ],
  [
    'base64',
    ({ secret }) =>
      time =>
        Buffer.from(hmac(secret, canonical(time)), 'hex').toString('base64'),
    'with base64 in place of lowercase hex.',
  ],
  [
    'upper case',
    ({ secret }) =>
      time =>
        hmac(secret, canonical(time)).toUpperCase(),
    'with upper-case hex in place of lowercase hex.',
  ],
  ['nothing that is known', () => () => '0'.repeat(64), 'none of the usual mistakes explains it.'],
];

describe('outside production', () => {
  let service: TestApp;
  let shop: MerchantWithKey;
  beforeAll(async () => {
    service = await startTestApp();
    shop = await addMerchant(service);
  });
  afterAll(() => service.close());

  test.each(MISTAKES)('E2007 names the mistake: %s', async (_name, sign, says) => {
    const message = await refusalOf(service, shop, sign(shop));
    expect(message).toContain(says);
    expect(message).toMatch(/whose SHA-256 is [0-9a-f]{64}: timestamp "\d+", nonce "/);
  });

  test("E2007 names the other pair's secret, current or previous", async () => {
    const old = await addMerchant(service);
    const issued = await rotateKey(operatorOf(service), service.keyring, old.keyId, false);
    const renewed = { ...old, ...issued };
    const mixed = (own: MerchantWithKey, other: MerchantWithKey) =>
      refusalOf(service, own, time => hmac(other.secret, canonical(time)));
    for (const [own, other, name] of [
      [renewed, old, 'previous'],
      [old, renewed, 'current'],
    ] as const) {
      const message = await mixed(own, other);
      expect(message).toContain(`with the secret of the key's ${name} pair`);
      expect(message).not.toContain(other.secret.slice(4));
    }
  });

  test('E2007 works without a pair that no master key opens any more', async () => {
    const old = await addMerchant(service);
    const issued = await rotateKey(operatorOf(service), service.keyring, old.keyId, false);
    await service.db
      .updateTable('api_keys')
      .set({ previous_master_key_version: 1 })
      .where('id', '=', old.keyId)
      .execute();
    const sign = (time: string) => hmac(old.secret, canonical(time));
    const message = await refusalOf(service, { ...old, ...issued }, sign);
    expect(message).toContain('none of the usual mistakes explains it');
  });
});

describe('behind a proxy with a prefix', () => {
  const PUBLIC_URL = 'https://pay.example.test/gateway';
  let service: TestApp;
  let shop: MerchantWithKey;
  beforeAll(async () => {
    service = await startTestApp({ env: { PUBLIC_URL } });
    shop = await addMerchant(service);
  });
  afterAll(() => service.close());

  test.each([
    [
      `/gateway${PATH}`,
      `with the prefix "/gateway" before the path. Sign it without the prefix, which the proxy removes: "${PATH}".`,
    ],
    [PUBLIC_URL + PATH, 'with the whole URL in place of its path.'],
  ])('E2007 knows the address of the service: %s', async (signed, says) => {
    const headers = signingHeaders(shop, { method: 'GET', path: signed, now: service.clock() });
    const answer = await service.app.inject({ method: 'GET', url: PATH, headers });
    expect(answer.json()).toMatchObject({
      error: { errorCode: 'E2007', message: expect.stringContaining(says) },
    });
  });

  test('a copied address counts without the prefix of the proxy', async () => {
    const { db, keyring } = service;
    const key = await db
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', shop.keyId)
      .executeTakeFirstOrThrow();
    const copied = {
      timestamp: '1779019200',
      nonce: NONCE,
      method: 'GET',
      body: '',
      publicUrl: PUBLIC_URL,
    };
    const explain = (path: string, signed: string) => {
      const signature = hmac(shop.secret, canonical(copied.timestamp, signed));
      return explainSignature(keyring, key, { ...copied, path, signature });
    };
    expect(explain(`/gateway${PATH}`, PATH)).toMatchObject({ matches: true });
    for (const path of [PATH, `/gateway${PATH}`]) {
      const found = explain(path, `/gateway${PATH}`);
      expect(found?.findings).toMatchObject([{ made: 'the prefix "/gateway" before the path' }]);
    }
  });
});

describe('in production', () => {
  let service: TestApp;
  let shop: MerchantWithKey;
  beforeAll(async () => {
    service = await startTestApp({
      env: {
        NODE_ENV: 'production',
        DATABASE_URL: 'postgres://unused',
        MASTER_KEY: randomBytes(32).toString('base64'),
      },
    });
    shop = await addMerchant(service);
  });
  afterAll(() => service.close());

  test('E2007 says the same for every mistake', async () => {
    const messages = new Set<string>();
    for (const [, sign] of MISTAKES) messages.add(await refusalOf(service, shop, sign(shop)));
    const [message, ...others] = messages;
    expect(others).toEqual([]);
    expect(message).not.toContain('/external/v1/payments');
    expect(message).not.toContain('it was made');
    expect(message).not.toMatch(/[0-9a-f]{64}/);
  });
});
