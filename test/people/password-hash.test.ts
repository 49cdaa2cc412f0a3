import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyring } from '../../src/crypto/keyring.ts';
import { hashPassword, verifyPassword } from '../../src/people/password-hash.ts';

const KEYS = [randomBytes(32), randomBytes(32)];
const keyring = createKeyring(KEYS.slice(0, 1));
const PERSON = '01890a5d-ac96-774b-bcce-b302099a8057';

test('a password is verified by its hash, for its person, under its master key', async () => {
  const stored = await hashPassword(keyring, PERSON, 'right');
  const verify = (password: string, person = PERSON, ring = keyring) =>
    verifyPassword(ring, person, stored, password);
  expect(await verify('right')).toEqual({ isRight: true, isOld: false });
  expect(await verify('Right')).toEqual({ isRight: false, isOld: false });
  expect((await verify('right', '01890a5d-ac96-774b-bcce-b302099a8058')).isRight).toBe(false);
  const renewed = createKeyring([KEYS[1], KEYS[0]] as Buffer[]);
  expect(await verify('right', PERSON, renewed)).toEqual({ isRight: true, isOld: true });
  expect((await verify('right', PERSON, createKeyring([randomBytes(32)]))).isRight).toBe(false);
});

test('without a password none is right', async () => {
  const none = {
    ...{ password_hash: null, password_salt: null },
    ...{ password_recipe: null, password_key_version: null },
  };
  expect((await verifyPassword(keyring, PERSON, none, '')).isRight).toBe(false);
  expect((await verifyPassword(keyring, PERSON, undefined, '')).isRight).toBe(false);
});

test('more than twenty that wait are refused, and the rest get their turn', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, () => hashPassword(keyring, PERSON, 'right')),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(8);
  expect(refused[0]).toMatchObject({ reason: { errorCode: 'E5002', retryAfterSeconds: 2 } });
  expect((await hashPassword(keyring, PERSON, 'right')).password_hash).toHaveLength(32);
});
