import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeKey, rotateKey } from '#accounts/keys/manage-keys.ts';
import { verifyCredentials } from '#accounts/keys/verify-credentials.ts';
import type { Keyring } from '#crypto/keyring.ts';
import { FreshCache } from '#storage/database/fresh-cache.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { NO_CHANGE_FEED } from '../../helpers/inert.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

/** The database and keyring calls for refused credentials, and the code of the refusal. */
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
  const db = service.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      calls.push(`${result.rows.length} row`);
      return result;
    },
  });
  const now = service.clock();
  const error = await verifyCredentials(
    { db, keyring: counting, knownKeys: new FreshCache(NO_CHANGE_FEED, 1) },
    keyId,
    passphrase,
    now,
  ).catch(thrown => thrown);
  return { errorCode: error.errorCode, calls };
}

test('any wrong passphrase costs the same as an unknown key', async () => {
  const fresh = await addMerchant(service);
  const rotated = await addMerchant(service);
  const revoked = await addMerchant(service);
  await rotateKey(operatorOf(service), service.keyring, rotated.keyId, false);
  await revokeKey(operatorOf(service), revoked.keyId);
  const refused = { errorCode: 'E2004', calls: ['1 row', 'hash', 'hash'] };
  const known = [fresh, rotated, revoked].map(({ keyId }) => keyId);
  // Below every key, between them, and above.
  const unknown = ['', 'mpk_0', 'mpk_f', ...known.map(keyId => `${keyId}0`), 'zzz'];
  for (const keyId of [...known, ...unknown]) {
    for (const passphrase of ['', 'wrong', 'x'.repeat(8_000)]) {
      expect(await workOf(keyId, passphrase)).toEqual(refused);
    }
  }
});

test('a passphrase opens only its own key, although an unknown ID reads the key next to it', async () => {
  const { keyId, passphrase } = await addMerchant(service);
  for (const other of [keyId.slice(0, -1), `${keyId}0`, keyId.toUpperCase(), '', 'zzz']) {
    expect((await workOf(other, passphrase)).errorCode).toBe('E2004');
  }
});
