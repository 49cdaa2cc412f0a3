import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proposeAddress } from '#accounts/address-changes.ts';
import { AddressTaken, HELD_FOR_MS } from '#accounts/address-holders.ts';
import { applyDueChanges, cancelChange } from '#accounts/apply-changes.ts';
import { addAddress, removeAddress, setAddress } from '#accounts/deposit-addresses.ts';
import { releaseAddress } from '#accounts/release-address.ts';
import { makeTestTwin } from '#accounts/test-twins.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { AddressChange } from '#storage/database/account-tables.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import {
  countSharedUnmatched,
  listOwnUnmatched,
} from '#storage/repositories/deposits/account-deposits.ts';
import { releaseReservation } from '#storage/repositories/deposits/reservations.ts';
import { operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';
import { reserveDollar } from '../helpers/quotes.ts';
import { simulatedTransfer } from '../helpers/see-transfer.ts';
import {
  type Account,
  DELAY_MS,
  earn,
  HOUR_MS,
  newAddress,
  openAccount,
  personOf,
} from './account-of-changes.ts';

let service: TestApp;
/** Two merchants whose changes wait, and one whose changes do not. */
let [ada, bob, cy]: [Account, Account, Account] = [] as never;

beforeAll(async () => {
  service = await startTestApp();
  ada = await openAccount(service, ['admin']);
  bob = await openAccount(service, ['admin']);
  cy = await openAccount(service, ['admin']);
  await earn(service, ada);
  await earn(service, bob);
  service.clock.now += DELAY_MS;
});
afterAll(() => service.close());

const ownerOf = ({ merchant, branches }: Account) => ({
  merchantId: merchant.id,
  branchId: branches[0],
});

function set(account: Account, network: string, address: string, sharedWith?: Account) {
  const other = sharedWith?.merchant.id;
  return setAddress(operatorOf(service), ownerOf(account), network, address, other);
}

const remove = (account: Account, network: string, address: string) =>
  removeAddress(operatorOf(service), ownerOf(account), network, address);

async function propose(account: Account, network: string, text: string): Promise<AddressChange> {
  const owner = ownerOf(account);
  const seen = await listAddressesOn(service.db, owner.branchId, network);
  const wanted = { ...owner, kind: 'address.add' as const, blockchainId: network, text };
  return proposeAddress(personOf(account, 0), wanted, seen, DELAY_MS);
}

const cancel = (account: Account, { id }: AddressChange) =>
  cancelChange(personOf(account, 0), account.merchant.id, id);

const release = ({ merchant }: Account, network: string, address: string) =>
  releaseAddress(operatorOf(service), { merchantId: merchant.id, blockchainId: network, address });

/** Asks a payer to pay at the account's only address on a network. */
async function quote({ merchant }: Account, network: string): Promise<string> {
  const now = new Date(service.clock());
  const payment = await addPayment(service.db, merchant, { created_at: now });
  await service.db.transaction().execute(tx => reserveDollar(tx, payment, network, now));
  return payment.id;
}

const endQuote = (paymentId: string) =>
  releaseReservation(service.db, paymentId, new Date(service.clock()));

/** Names of the merchants with the address in force or pending, on any network. */
async function whoHas(address: string): Promise<string[]> {
  const { rows } = await sql<{ merchant_id: string }>`
    select merchant_id from deposit_addresses join branches on branches.id = branch_id
    where address = ${address}
    union select merchant_id from address_changes where address = ${address} and outcome is null`.execute(
    service.db,
  );
  const names = new Map([ada, bob, cy].map(({ merchant }, at) => [merchant.id, 'ABC'[at] ?? '?']));
  return rows.map(({ merchant_id }) => names.get(merchant_id) ?? '?').sort();
}

const refused = { name: 'OperationRefused', message: expect.stringContaining('Another account') };

const succeeded = (outcomes: readonly PromiseSettledResult<unknown>[]) => {
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(AddressTaken);
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
};

describe('of several who concurrently want one address, one gets it', () => {
  test('two admins who propose it, on one chain or on two of a family', async () => {
    for (let round = 0; round < 20; round++) {
      const address = newAddress();
      const network = round % 2 === 0 ? 'eth' : 'bnb-usdt';
      const outcomes = await Promise.allSettled([
        propose(ada, 'eth', address),
        propose(bob, network, address),
      ]);
      expect(succeeded(outcomes)).toBe(1);
      expect(await whoHas(address)).toHaveLength(1);
      const [first, second] = outcomes;
      if (first.status === 'fulfilled') await cancel(ada, first.value);
      if (second?.status === 'fulfilled') await cancel(bob, second.value);
      expect(await whoHas(address)).toEqual([]);
    }
  });

  test('an admin whose change waits, one whose change does not, and an operator', async () => {
    for (let round = 0; round < 10; round++) {
      const address = newAddress();
      const outcomes = await Promise.allSettled([
        propose(ada, 'eth', address),
        propose(cy, 'avax', address),
        set(bob, 'bnb', address),
      ]);
      expect(succeeded(outcomes)).toBe(1);
      expect(await whoHas(address)).toHaveLength(1);
      const [first] = outcomes;
      if (first.status === 'fulfilled') await cancel(ada, first.value);
    }
  });

  test('an operator, while the change of another merchant takes effect', async () => {
    for (let round = 0; round < 5; round++) {
      const address = newAddress();
      const change = await propose(ada, 'eth', address);
      service.clock.now = change.effective_at.getTime();
      const [tick, taken] = await Promise.allSettled([
        applyDueChanges(service.db, service.clock, 50),
        set(bob, 'eth', address),
      ]);
      expect([tick.status, taken.status]).toEqual(['fulfilled', 'rejected']);
      expect(await whoHas(address)).toEqual(['A']);
      await remove(ada, 'eth', address);
    }
  });

  test('one removes it while another takes it: it never belongs to both', async () => {
    for (let round = 0; round < 10; round++) {
      const address = newAddress();
      await set(ada, 'eth', address);
      await Promise.allSettled([
        remove(ada, 'eth', address),
        set(bob, 'bnb', address),
        addAddress(operatorOf(service), ownerOf(ada), 'bnb', address),
      ]);
      expect((await whoHas(address)).length).toBeLessThan(2);
    }
  });
});

test('the database itself refuses, whichever way is used', async () => {
  const [address, waiting] = [newAddress(), newAddress()];
  await set(ada, 'eth', address);
  const change = await propose(ada, 'eth', waiting);
  const insert = (value: string) =>
    service.db
      .insertInto('deposit_addresses')
      .values({
        branch_id: bob.branches[0],
        blockchain_id: 'avax-usdt',
        address: value,
        updated_at: new Date(service.clock()),
      })
      .execute();
  const violated = { code: '23505', constraint: 'address_holders_one' };
  await expect(insert(address)).rejects.toMatchObject(violated);
  await expect(insert(waiting)).rejects.toMatchObject(violated);
  await expect(
    sql`insert into address_holders (family, environment, address, merchant_id, shared_with, held_since)
        values ('evm', 'production', ${newAddress()}, ${bob.merchant.id}, ${ada.merchant.id}, now())`.execute(
      service.db,
    ),
  ).rejects.toMatchObject({ code: '23503' });
  await cancel(ada, change);
});

test('a public address is refused on a chain that its merchant has not set up, but not in the other environment', async () => {
  const address = newAddress();
  await set(ada, 'eth', address);
  for (const network of ['eth', 'eth-usdc', 'bnb', 'bnb-usdt', 'avax', 'avax-usdt']) {
    await expect(set(bob, network, address)).rejects.toMatchObject(refused);
    await expect(propose(bob, network, address)).rejects.toMatchObject(refused);
  }
  await set(ada, 'bnb-usdt', address);
  await set(bob, 'eth-test', address);
  await expect(set(ada, 'avax-test', address)).rejects.toMatchObject(refused);
});

test('a test twin counts as another merchant, which an operator may let share', async () => {
  const address = newAddress();
  await set(ada, 'eth-test', address);
  const twin = await makeTestTwin(operatorOf(service), ada.merchant.id);
  const setInTwin = (network: string, sharedWith?: string) =>
    setAddress(operatorOf(service), { merchantId: twin.id }, network, address, sharedWith);
  await expect(setInTwin('eth-test')).rejects.toMatchObject(refused);
  await expect(setInTwin('bnb-test')).rejects.toMatchObject(refused);
  await setInTwin('bnb-test', ada.merchant.id);
  await expect(set(bob, 'eth-test', address)).rejects.toMatchObject(refused);
  // Main networks are separate.
  await set(bob, 'eth', address);
});

describe('an address that is removed', () => {
  test('without ever being shown to a payer belongs to nobody', async () => {
    const address = newAddress();
    await set(ada, 'eth', address);
    await set(ada, 'bnb', address);
    await remove(ada, 'eth', address);
    await expect(set(bob, 'eth', address)).rejects.toMatchObject(refused);
    await remove(ada, 'bnb', address);
    await set(bob, 'eth', address);
    // Proposed, and withdrawn before it was in force.
    const withdrawn = newAddress();
    await cancel(ada, await propose(ada, 'eth', withdrawn));
    await set(bob, 'eth', withdrawn);
    // Replaced.
    await set(ada, 'eth', address);
  });

  test('after it was shown stays its merchant’s for the late window and 30 days', async () => {
    const address = newAddress();
    await set(ada, 'eth', address);
    const payment = await quote(ada, 'eth');
    service.clock.now += HOUR_MS;
    await remove(ada, 'eth', address);
    // A payer is asked to pay there, for however long.
    service.clock.now += HELD_FOR_MS + HOUR_MS;
    await expect(set(bob, 'avax', address)).rejects.toMatchObject(refused);
    await endQuote(payment);
    service.clock.now += HELD_FOR_MS - 1;
    await expect(set(bob, 'avax', address)).rejects.toMatchObject(refused);
    await expect(propose(bob, 'eth', address)).rejects.toMatchObject(refused);
    service.clock.now += 1;
    await set(bob, 'avax', address);
    await expect(set(ada, 'eth', address)).rejects.toMatchObject(refused);
    expect(HELD_FOR_MS).toBe(31 * 24 * HOUR_MS);
  });

  test('counts as shown if the payer is asked concurrently with the removal', async () => {
    for (let round = 0; round < 8; round++) {
      const address = newAddress();
      await set(cy, 'eth', address);
      const [quoted] = await Promise.allSettled([quote(cy, 'eth'), remove(cy, 'eth', address)]);
      expect(quoted.status).toBe('fulfilled');
      const shown = await service.db
        .selectFrom('reservations')
        .select('id')
        .where('address', '=', address)
        .execute();
      const taken = await set(bob, 'eth', address).then(
        () => true,
        () => false,
      );
      expect(taken).toBe(shown.length === 0);
    }
  });

  test('can be set again by its merchant, and is then in force as before', async () => {
    const address = newAddress();
    await set(ada, 'eth', address);
    await endQuote(await quote(ada, 'eth'));
    await remove(ada, 'eth', address);
    service.clock.now += HELD_FOR_MS;
    await set(ada, 'bnb', address);
    await expect(set(bob, 'eth', address)).rejects.toMatchObject(refused);
    service.clock.now += HELD_FOR_MS;
    await expect(set(bob, 'eth', address)).rejects.toMatchObject(refused);
  });

  test('is free at once when an operator releases it', async () => {
    const address = newAddress();
    await set(ada, 'eth', address);
    await endQuote(await quote(ada, 'eth'));
    await expect(release(ada, 'eth', address)).rejects.toThrow('is in force');
    await remove(ada, 'eth', address);
    await expect(release(bob, 'eth', address)).rejects.toThrow('does not have this address');
    await release(ada, 'bnb', address);
    await set(bob, 'eth', address);
    const entry = await service.db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'address.release')
      .executeTakeFirstOrThrow();
    expect(entry).toMatchObject({
      object_id: ada.merchant.id,
      account_id: ada.merchant.id,
      detail: { blockchainId: 'bnb', address },
    });
  });
});

describe('deposits that no payment took', () => {
  let serial = 0;

  /** IDs of the deposits in a merchant's inbox, and how many are hidden from it. */
  async function inboxOf({ merchant }: Account): Promise<{ ids: string[]; hidden: number }> {
    const page = { after: undefined, limit: 100 };
    const own = await listOwnUnmatched(service.db, merchant.id, {}, page);
    const hidden = await countSharedUnmatched(service.db, merchant.id, 100);
    return { ids: own.map(({ id }) => id), hidden };
  }

  async function arrive(address: string): Promise<string> {
    serial += 1;
    service.clock.now += 1000;
    const now = new Date(service.clock());
    const transfer = simulatedTransfer({
      blockchainId: 'eth',
      transactionHash: `0x${serial}`,
      address,
      tokenAmount: 77n,
      occurredAt: now,
    });
    const { id } = await observeTransfer(service.db, transfer, now);
    service.clock.now += 1000;
    return id;
  }

  test('stay in the inbox of the merchant that had the address, whoever wants or gets it later', async () => {
    const address = newAddress();
    await set(ada, 'eth', address);
    await endQuote(await quote(ada, 'eth'));
    const first = await arrive(address);
    await expect(set(bob, 'eth', address)).rejects.toMatchObject(refused);
    expect((await inboxOf(ada)).ids).toContain(first);
    await remove(ada, 'eth', address);
    const late = await arrive(address);
    await release(ada, 'eth', address);
    await set(bob, 'eth', address);
    const second = await arrive(address);
    expect((await inboxOf(ada)).ids).toEqual(expect.arrayContaining([first, late]));
    expect((await inboxOf(ada)).ids).not.toContain(second);
    expect((await inboxOf(bob)).ids).toEqual([second]);
    // Also when it comes back.
    await remove(bob, 'eth', address);
    await set(ada, 'eth', address);
    const third = await arrive(address);
    expect((await inboxOf(ada)).ids).toEqual(expect.arrayContaining([first, late, third]));
    expect(await inboxOf(bob)).toEqual({ ids: [second], hidden: 0 });
    expect((await inboxOf(ada)).hidden).toBe(0);
  });

  test('are hidden from both while they share an address, and from nobody else', async () => {
    const address = newAddress();
    await set(ada, 'eth', address);
    const before = await arrive(address);
    await expect(set(bob, 'eth', address, cy)).rejects.toThrow('does not have this address');
    await set(bob, 'eth', address, ada);
    const shared = await arrive(address);
    for (const account of [ada, bob]) {
      const { ids, hidden } = await inboxOf(account);
      expect({ hidden, isListed: ids.includes(shared) }).toEqual({ hidden: 1, isListed: false });
    }
    expect((await inboxOf(ada)).ids).toContain(before);
    await expect(set(cy, 'bnb', address)).rejects.toMatchObject(refused);
    await expect(propose(cy, 'eth', address)).rejects.toMatchObject(refused);
    // The original holder leaves: it now belongs to the other one alone, and to no third.
    await remove(ada, 'eth', address);
    const after = await arrive(address);
    expect((await inboxOf(bob)).ids).toContain(after);
    expect((await inboxOf(bob)).ids).not.toContain(shared);
    await expect(set(cy, 'bnb', address)).rejects.toMatchObject(refused);
    await expect(set(ada, 'bnb', address)).rejects.toMatchObject(refused);
    const entries = await service.db
      .selectFrom('audit_log')
      .select(['account_id', 'detail'])
      .where('action', '=', 'address.share')
      .where(sql<boolean>`detail ->> 'address' = ${address}`)
      .orderBy('account_id')
      .execute();
    const detail = (other: Account) => ({
      blockchainId: 'eth',
      address,
      merchantIds: [other.merchant.id],
    });
    expect(entries).toEqual([
      { account_id: ada.merchant.id, detail: detail(bob) },
      { account_id: bob.merchant.id, detail: detail(ada) },
    ]);
  });
});
