import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Keyring } from '../../src/crypto/keyring.ts';
import { NO_CHANGE_FEED } from '../../src/database/change-feed.ts';
import { FreshCache } from '../../src/database/fresh-cache.ts';
import { revokeKey, rotateKey } from '../../src/keys/manage-keys.ts';
import { verifyCredentials } from '../../src/keys/verify-credentials.ts';
import { addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

/** What a refused pair of credentials makes the keyring do, and the code it is refused with. */
async function workOf(keyId: string, passphrase: string) {
  const calls: string[] = [];
  const { keyring } = service;
  const counting: Keyring = {
    ...keyring,
    hash(...parameters) {
      calls.push('hash');
      return keyring.hash(...parameters);
    },
    open(...parameters) {
      calls.push('open');
      return keyring.open(...parameters);
    },
  };
  const now = service.clock();
  const error = await verifyCredentials(
    { db: service.db, keyring: counting, knownKeys: new FreshCache(NO_CHANGE_FEED, 1) },
    keyId,
    passphrase,
    now,
  ).catch(thrown => thrown);
  return { errorCode: error.errorCode, calls };
}

test('whatever is wrong with a passphrase costs the same as an unknown key', async () => {
  const fresh = await addMerchant(service);
  const rotated = await addMerchant(service);
  const revoked = await addMerchant(service);
  await rotateKey(operatorOf(service), service.keyring, rotated.keyId, false);
  await revokeKey(operatorOf(service), revoked.keyId);
  const refused = { errorCode: 'E2004', calls: ['hash', 'hash'] };
  for (const keyId of [fresh.keyId, rotated.keyId, revoked.keyId, `mpk_${'0'.repeat(24)}`, '']) {
    for (const passphrase of ['', 'wrong', 'x'.repeat(8_000)]) {
      expect(await workOf(keyId, passphrase)).toEqual(refused);
    }
  }
});
