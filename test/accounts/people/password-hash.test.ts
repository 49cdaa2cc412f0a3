import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from '#accounts/people/password-hash.ts';
import { createKeyring } from '#crypto/keyring.ts';

const KEYS = [randomBytes(32), randomBytes(32)];
const keyring = createKeyring(KEYS.slice(0, 1));
const PERSON = '01890a5d-ac96-774b-bcce-b302099a8057';

test('a password is verified by its hash, for its person, under its master key', async () => {
  const stored = await hashPassword({ keyring }, PERSON, 'right');
  const verify = (password: string, person = PERSON, ring = keyring) =>
    verifyPassword({ keyring: ring }, person, stored, password);
  expect(await verify('right')).toEqual({ isRight: true, isOld: false });
  expect(await verify('Right')).toEqual({ isRight: false, isOld: false });
  expect((await verify('right', '01890a5d-ac96-774b-bcce-b302099a8058')).isRight).toBe(false);
  const renewed = createKeyring([KEYS[1], KEYS[0]] as Buffer[]);
  expect(await verify('right', PERSON, renewed)).toEqual({ isRight: true, isOld: true });
  expect((await verify('right', PERSON, createKeyring([randomBytes(32)]))).isRight).toBe(false);
});

test('without a stored password none is right', async () => {
  const none = {
    password_hash: null,
    password_salt: null,
    password_recipe: null,
    password_key_version: null,
  };
  expect((await verifyPassword({ keyring }, PERSON, none, '')).isRight).toBe(false);
  expect((await verifyPassword({ keyring }, PERSON, undefined, '')).isRight).toBe(false);
});
