import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyWebhook } from '#client/index.ts';
import { rotateEndpointSecret, SECRET_GRACE_MS } from '#payments/webhooks/manage-endpoints.ts';
import { wipePreviousWebhookSecrets } from '#storage/repositories/webhooks/endpoints.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { openShop, type Shop } from './shop.ts';

let database: TestDatabase;
let shop: Shop;
let receiver: Receiver;
beforeAll(async () => {
  database = await cloneDatabase();
  [shop, receiver] = await Promise.all([openShop(database), startReceiver()]);
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});

async function deliver() {
  await shop.tell();
  await shop.attemptAll();
  const request = receiver.requests.at(-1);
  if (request === undefined) throw new Error('nothing came');
  return {
    signatures: String(request.headers['webhook-signature']).split(' ').length,
    isSignedWith(secret: string) {
      try {
        verifyWebhook({ ...request, secret, now: shop.clock });
        return true;
      } catch {
        return false;
      }
    },
  };
}

test('after a rotation both secrets sign for 24 hours, then the new one alone', async () => {
  const { endpoint, secret: first } = await shop.addEndpoint(receiver.url);
  expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { secret: second } = await rotateEndpointSecret(shop.operator, shop.keyring, endpoint.id);
  expect(second).not.toBe(first);

  shop.clock.now += SECRET_GRACE_MS - 1;
  const during = await deliver();
  expect(during.signatures).toBe(2);
  expect([first, second].map(during.isSignedWith)).toEqual([true, true]);

  shop.clock.now += 1;
  const after = await deliver();
  expect(after.signatures).toBe(1);
  expect([first, second].map(after.isSignedWith)).toEqual([false, true]);

  const wipe = () => wipePreviousWebhookSecrets(shop.db, new Date(shop.clock()), 10);
  expect([await wipe(), await wipe()]).toEqual([1, 0]);

  // After two rotations within a day, the secret in between still signs.
  const { secret: third } = await rotateEndpointSecret(shop.operator, shop.keyring, endpoint.id);
  const { secret: fourth } = await rotateEndpointSecret(shop.operator, shop.keyring, endpoint.id);
  const last = await deliver();
  expect([second, third, fourth].map(last.isSignedWith)).toEqual([false, true, true]);
});

test('secrets are stored sealed, and never in the audit log', async () => {
  const { endpoint, secret } = await shop.addEndpoint('https://shop.example.com/h/t0ken?k=t0ken');
  expect(endpoint.secret.includes(secret)).toBe(false);
  expect(endpoint.secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
  const { id, master_key_version: version } = endpoint;
  expect(shop.keyring.open(endpoint.secret, id, version)).toBe(secret);
  // Bound to the endpoint: it does not open for another one.
  expect(() => shop.keyring.open(endpoint.secret, shop.merchant.id, version)).toThrow();
  const audit = await shop.db
    .selectFrom('audit_log')
    .selectAll()
    .where('object_id', '=', id)
    .execute();
  expect(audit).toMatchObject([
    { action: 'webhook.create', detail: { origin: 'https://shop.example.com', types: ['all'] } },
  ]);
  expect(JSON.stringify(audit)).not.toMatch(/whsec|t0ken/);
});
