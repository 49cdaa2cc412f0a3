import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKeyring } from '#crypto/keyring.ts';
import { makeDemo } from '#runtime/development/demo.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';

let database: TestDatabase;
let directory: string;

beforeAll(async () => {
  database = await cloneDatabase();
  directory = await mkdtemp(join(tmpdir(), 'demo-'));
  const keyring = createKeyring([randomBytes(32)]);
  await makeDemo(directory, { db: database.db, clock: Date.now, actor: 'demo', keyring });
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await database.drop();
});

test('no two demo shops share an address, or their inboxes would show nothing', async () => {
  const { rows } = await sql<{ merchants: number; addresses: number }>`
    select count(distinct merchant_id)::integer as merchants, count(*)::integer as addresses
    from account_addresses`.execute(database.db);
  expect(rows[0]?.merchants).toBe(2);
  expect(rows[0]?.addresses).toBeGreaterThan(20);
  const shared = await sql`
    select blockchain_id, address from account_addresses
    group by 1, 2 having count(*) > 1`.execute(database.db);
  expect(shared.rows).toEqual([]);
});
