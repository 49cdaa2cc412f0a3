import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkMasterKeys, MasterKeyMissing } from '#accounts/keys/master-keys.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { listMasterKeys } from '#storage/repositories/keys/master-keys.ts';
import { up } from '../../../migrations/0015_master_keys.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';

const [FIRST, SECOND, OTHER] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const clock = Object.assign(() => clock.now, { now: Date.UTC(2026, 4, 17) });
const versionOf = (key: Buffer) => createKeyring([key]).currentVersion;

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.db.deleteFrom('master_keys').execute());

const check = (...keys: Buffer[]) =>
  checkMasterKeys(database.db, createKeyring(keys), new Date(clock()));
const inUse = () => listMasterKeys(database.db);

test('the first key of a database is the one that it requires from then on', async () => {
  await check(FIRST);
  await check(FIRST);
  expect(await inUse()).toEqual([versionOf(FIRST)]);
  await expect(check(OTHER)).rejects.toThrow(MasterKeyMissing);
  await expect(check(OTHER)).rejects.toThrow(/MASTER_KEY/);
  expect(await inUse()).toEqual([versionOf(FIRST)]);
});

test('a new key is accepted together with the former one, and required from then on', async () => {
  await check(FIRST);
  await check(SECOND, FIRST);
  const both = [versionOf(FIRST), versionOf(SECOND)].toSorted((a, b) => a - b);
  expect(await inUse()).toEqual(both);
  await expect(check(FIRST)).rejects.toThrow(`version ${versionOf(SECOND)}`);
  await expect(check(SECOND)).rejects.toThrow(`version ${versionOf(FIRST)}`);
  await check(FIRST, SECOND);
});

test('of two processes that concurrently bring different keys, one is refused', async () => {
  const results = await Promise.allSettled([check(FIRST), check(OTHER), check(FIRST)]);
  const failed = results.filter(({ status }) => status === 'rejected');
  expect(failed.length).toBeGreaterThan(0);
  expect(await inUse()).toHaveLength(1);
});

test('the keys of a database of the previous release are registered by its migration', async () => {
  const { db } = database;
  const test = { db, clock, keyring: createKeyring([FIRST]) };
  const revoked = await addMerchant({ ...test, keyring: createKeyring([OTHER]) });
  await db
    .updateTable('api_keys')
    .set({ secret: null, revoked_at: new Date() })
    .where('id', '=', revoked.keyId)
    .execute();
  await addMerchant(test);
  await sql`drop table master_keys`.execute(db);
  await sql`
    alter table api_keys
      drop column passphrase_key_version, drop column previous_passphrase_key_version`.execute(db);
  await sql`alter table idempotency_keys drop column master_key_version`.execute(db);
  await up(db as unknown as Kysely<unknown>);
  expect(await inUse()).toEqual([versionOf(FIRST)]);
  await expect(check(SECOND)).rejects.toThrow(MasterKeyMissing);
});
