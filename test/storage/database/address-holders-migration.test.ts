import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { proposeAddress } from '#accounts/address-changes.ts';
import { applyDueChanges } from '#accounts/apply-changes.ts';
import { removeAddress, setAddress } from '#accounts/deposit-addresses.ts';
import { newId } from '#crypto/new-id.ts';
import { checkFirstPayment } from '#onchain/settlement/first-payment.ts';
import { steps } from '../../../migrations/0065_address_holders.ts';
import {
  type Account,
  DELAY_MS,
  earn,
  newAddress,
  openAccount,
  personOf,
} from '../../accounts/account-of-changes.ts';
import { operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { makeAgain } from './make-again.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

/** Restores the schema before the step, as far as addresses need it. */
const UNDO = [
  sql`drop trigger address_changes_hold on address_changes`,
  sql`drop function hold_waiting_address, hold_address, begin_address_period`,
  sql`drop table address_holders`,
  sql`alter table account_addresses drop constraint account_addresses_pkey,
      drop column since, drop column until, add primary key (blockchain_id, address, merchant_id)`,
  sql`
    create or replace function note_account_address() returns trigger language plpgsql as $$
    begin
      insert into account_addresses (blockchain_id, address, merchant_id)
      select new.blockchain_id, new.address, merchant_id from branches where id = new.branch_id
      on conflict do nothing;
      return null;
    end $$`,
];

/** An address in force, as the earlier release stores it. */
function use({ branches }: Account, network: string, address: string, minutes = 0) {
  const at = new Date(service.clock() + minutes * 60_000);
  return sql`insert into deposit_addresses values (${branches[0]}, ${network}, ${address}, ${at})`.execute(
    service.db,
  );
}

function unuse({ branches }: Account, address: string) {
  return sql`delete from deposit_addresses
    where branch_id = ${branches[0]} and address = ${address}`.execute(service.db);
}

/** An open change, as the earlier release stores it. */
function wait(account: Account, network: string, address: string) {
  const { merchant, branches } = account;
  const { personId, actor } = personOf(account, 0);
  const now = new Date(service.clock());
  return sql`
    insert into address_changes (id, merchant_id, kind, branch_id, blockchain_id, address, former,
      proposed_by, person_id, proposed_at, effective_at, needs_approval)
    values (${newId()}, ${merchant.id}, 'address.set', ${branches[1]}, ${network}, ${address}, '{}',
      ${actor}, ${personId}, ${now}, ${now}, false)`.execute(service.db);
}

test('addresses that several merchants have stay theirs, shared, and no other merchant gets them', async () => {
  const operator = operatorOf(service);
  const [ada, bob, cy] = await Promise.all([1, 2, 3].map(() => openAccount(service, ['admin'])));
  if (ada === undefined || bob === undefined || cy === undefined) throw new Error('no accounts');
  await earn(service, cy);
  service.clock.now += DELAY_MS;
  const [shared, former, gone, waiting, own] = [1, 2, 3, 4, 5].map(newAddress) as [
    ...[string, string, string, string, string],
  ];
  const inTransactions = async (db: Kysely<unknown>) => {
    for (const step of steps) await db.transaction().execute(step);
  };
  await makeAgain(service.db, inTransactions, UNDO, async () => {
    // On two chains of one family.
    await use(bob, 'eth', shared, 1);
    await use(ada, 'bnb-usdt', shared);
    // It was one merchant's until another got it.
    await use(ada, 'eth', former);
    await unuse(ada, former);
    await use(bob, 'avax', former);
    await use(ada, 'eth', gone);
    await unuse(ada, gone);
    await wait(ada, 'avax-usdt', waiting);
    await use(ada, 'eth', own);
    // A change to another merchant's address, which lapses.
    await wait(bob, 'eth-usdc', own);
  });
  const holders = await service.db
    .selectFrom('address_holders')
    .select(['address', 'merchant_id', 'shared_with'])
    .execute();
  const [a, b] = [ada.merchant.id, bob.merchant.id];
  const expected = [
    { address: shared, merchant_id: a, shared_with: null },
    { address: shared, merchant_id: b, shared_with: a },
    { address: former, merchant_id: b, shared_with: null },
    { address: gone, merchant_id: a, shared_with: null },
    { address: waiting, merchant_id: a, shared_with: null },
    { address: own, merchant_id: a, shared_with: null },
  ];
  expect(holders).toHaveLength(expected.length);
  expect(holders).toEqual(expect.arrayContaining(expected));

  const configured = {
    simulation: true,
    hasPanel: true,
    hasProcessor: true,
  };
  for (const { merchant } of [ada, bob]) {
    const now = new Date(service.clock());
    const { steps } = await checkFirstPayment(service.db, merchant.id, configured, now);
    const step = steps.find(({ name }) => name === 'address');
    expect(step).toMatchObject({
      state: 'advised',
      finding: { code: 'addresses-shared', values: { shared } },
    });
  }
  // Both keep it as long as they like, and may move it; a third merchant does not get it.
  await setAddress(operator, { merchantId: a, branchId: ada.branches[1] }, 'eth', shared);
  await setAddress(operator, { merchantId: b, branchId: bob.branches[1] }, 'avax', shared);
  const wanted = {
    kind: 'address.set' as const,
    merchantId: cy.merchant.id,
    branchId: cy.branches[0],
    blockchainId: 'eth',
  };
  for (const text of [shared, former, waiting, own]) {
    const proposed = proposeAddress(personOf(cy, 0), { ...wanted, text }, [], DELAY_MS);
    await expect(proposed).rejects.toThrow('Another account');
  }
  await applyDueChanges(service.db, service.clock, 50);
  const changes = await service.db
    .selectFrom('address_changes')
    .select(['merchant_id', 'outcome'])
    .where('person_id', 'is not', null)
    .execute();
  expect(changes).toHaveLength(2);
  expect(changes).toEqual(
    expect.arrayContaining([
      { merchant_id: a, outcome: 'applied' },
      { merchant_id: b, outcome: 'lapsed' },
    ]),
  );
  // When one of them leaves it, it belongs to the other alone.
  await removeAddress(operator, { merchantId: a, branchId: ada.branches[1] }, 'eth', shared);
  await removeAddress(operator, { merchantId: a }, 'bnb-usdt', shared);
  const left = await service.db
    .selectFrom('address_holders')
    .select(['merchant_id', 'shared_with'])
    .where('address', '=', shared)
    .execute();
  expect(left).toEqual([{ merchant_id: b, shared_with: null }]);
});
