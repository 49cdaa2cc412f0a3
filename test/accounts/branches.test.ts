import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { BRANCHES_MAXIMUM, createBranch } from '#accounts/branches.ts';
import { createMerchant } from '#accounts/merchants.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';

let database: TestDatabase;
let merchantId: string;
beforeAll(async () => {
  database = await cloneDatabase();
});
beforeEach(async () => {
  merchantId = await addMerchant();
});
afterAll(() => database.drop());

const operator = () => ({ db: database.db, clock: Date.now, actor: 'test' });
const addMerchant = async () =>
  (await createMerchant(operator(), { name: 'Shop', email: 'shop@example.com' })).id;
const add = (name: string, of = merchantId) =>
  createBranch(operator(), { merchantId: of, name, main: false });
const names = async () => (await listBranches(database.db, merchantId)).map(({ name }) => name);

/** Inserts branches as they may be there already. */
async function insert(count: number, name: string): Promise<void> {
  await sql`
    insert into branches (id, merchant_id, name, is_main, created_at)
    select gen_random_uuid(), ${merchantId}, ${name} || n, false, now()
    from generate_series(1, ${count}) as n`.execute(database.db);
}

test('a merchant has at most 100 branches, also when several are added at once', async () => {
  await insert(BRANCHES_MAXIMUM - 3, 'Branch ');
  const results = await Promise.allSettled(['A', 'B', 'C', 'D'].map(name => add(name)));
  expect(results.map(({ status }) => status).sort()).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
  expect(await names()).toHaveLength(BRANCHES_MAXIMUM);
  await expect(add('E')).rejects.toThrow('A merchant may have at most 100 branches.');
  await add('E', await addMerchant());
});

test('a merchant that has more keeps them, and gets no further one', async () => {
  await insert(BRANCHES_MAXIMUM + 20, 'Branch ');
  await expect(add('A')).rejects.toThrow('A merchant may have at most 100 branches.');
  expect(await names()).toHaveLength(BRANCHES_MAXIMUM + 21);
});

test.each(['Kiosk', ' kiosk ', 'KIOSK'])('beside Kiosk, %o is refused', async name => {
  await add('Kiosk');
  await expect(add(name)).rejects.toThrow('The merchant has a branch named Kiosk already.');
  expect(await names()).toEqual(['Main', 'Kiosk']);
  await add(name, await addMerchant());
});

test('of two branches with one name that are added at once, one is refused', async () => {
  const results = await Promise.allSettled([add('Café'), add('CAFÉ')]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('branches that share a name already stay, and others are added beside them', async () => {
  await insert(1, 'Kiosk ');
  await insert(1, 'Kiosk ');
  await add('Harbour');
  expect((await names()).sort()).toEqual(['Harbour', 'Kiosk 1', 'Kiosk 1', 'Main']);
});
