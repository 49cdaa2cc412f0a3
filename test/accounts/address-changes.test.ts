import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  checkAddress,
  proposeAddress,
  proposeMainBranch,
  requireSecondAdmin,
} from '#accounts/address-changes.ts';
import { applyDueChanges, approveChange, cancelChange } from '#accounts/apply-changes.ts';
import { removeAddress, setAddress } from '#accounts/deposit-addresses.ts';
import type { AddressChange } from '#storage/database/account-tables.ts';
import { listAuditEntries } from '#storage/repositories/accounts/audit-log.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { updateNetwork } from '#storage/repositories/chains/networks.ts';
import { updatePerson } from '#storage/repositories/people/people.ts';
import { operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import {
  type Account,
  DELAY_MS,
  earn,
  HOUR_MS,
  killedAfter,
  NETWORK,
  newAddress,
  openAccount,
  personOf,
  readInForce,
} from './account-of-changes.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

/** An account with an address and a successful payment, whose people have been there for a day. */
async function openOldAccount(): Promise<Account & { readonly address: string }> {
  const account = await openAccount(service);
  const { merchant, branches } = account;
  const address = newAddress();
  const owner = { merchantId: merchant.id, branchId: branches[0] };
  await setAddress(operatorOf(service), owner, NETWORK, address);
  await earn(service, account);
  service.clock.now += DELAY_MS;
  return { ...account, address };
}

async function proposeIn(
  account: Account,
  by = 0,
  text = newAddress(),
): Promise<AddressChange & { readonly address: string }> {
  const [branchId] = account.branches;
  const seen = await listAddressesOn(service.db, branchId, NETWORK);
  const { id: merchantId } = account.merchant;
  const wanted = {
    kind: 'address.set',
    merchantId,
    branchId,
    blockchainId: NETWORK,
    text,
  } as const;
  const change = await proposeAddress(personOf(account, by), wanted, seen, DELAY_MS);
  return { ...change, address: text };
}

const inForce = (account: Account) => listAddressesOn(service.db, account.branches[0], NETWORK);

const approve = (account: Account, by: number, { id }: AddressChange) =>
  approveChange(personOf(account, by), account.merchant.id, id, DELAY_MS);

const tick = () => applyDueChanges(service.db, service.clock, 50);

test('two concurrent approvals, and the worker, apply a change once', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  service.clock.now += DELAY_MS;
  const outcomes = await Promise.allSettled([
    ...[approve(account, 1, change), approve(account, 1, change), tick(), tick()],
  ]);
  const approved = outcomes.slice(0, 2).filter(({ status }) => status === 'fulfilled');
  expect(approved.length).toBeLessThan(2);
  expect(outcomes.slice(2).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  expect(await inForce(account)).toEqual([change.address]);
  const { applied, audited, open } = await readInForce(service.db, account);
  expect({ applied, audited, open }).toEqual({ applied: 2, audited: 2, open: [] });
});

test('of a concurrent approval and cancellation, one takes effect, and the other is told so', async () => {
  for (let round = 0; round < 5; round++) {
    const account = await openOldAccount();
    const change = await proposeIn(account);
    const [approved, cancelled] = await Promise.allSettled([
      approve(account, 1, change),
      cancelChange(personOf(account, 0), account.merchant.id, change.id),
    ]);
    expect([approved.status, cancelled.status].sort()).toEqual(['fulfilled', 'rejected']);
    const expected = approved.status === 'fulfilled' ? change.address : account.address;
    expect(await inForce(account)).toEqual([expected]);
  }
});

test('a worker that is killed leaves a change either unaltered, or applied with its audit entry', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  service.clock.now += DELAY_MS;
  const before = await readInForce(service.db, account);
  let kills = 0;
  for (let after = 0; ; after++) {
    const died = await applyDueChanges(killedAfter(service.db, after), service.clock, 50).then(
      () => false,
      () => true,
    );
    if (!died) break;
    kills += 1;
    expect(await readInForce(service.db, account)).toEqual(before);
  }
  expect(kills).toBeGreaterThan(8);
  expect(await readInForce(service.db, account)).toMatchObject({
    addresses: [[change.address], []],
    open: [],
    applied: before.applied + 1,
    audited: before.audited + 1,
  });
});

test('one change that fails holds up no other', async () => {
  const accounts = [await openOldAccount(), await openOldAccount()] as const;
  const [first, second] = [await proposeIn(accounts[0]), await proposeIn(accounts[1])];
  service.clock.now += DELAY_MS;
  await service.db.schema
    .alterTable('deposit_addresses')
    .addCheckConstraint('not_this', sql`address <> ${sql.lit(first.address)}`)
    .execute();
  await expect(tick()).rejects.toThrow('1 changes were not applied');
  expect(await inForce(accounts[1])).toEqual([second.address]);
  expect(await inForce(accounts[0])).toEqual([accounts[0].address]);
  await service.db.schema.alterTable('deposit_addresses').dropConstraint('not_this').execute();
  await tick();
  expect(await inForce(accounts[0])).toEqual([first.address]);
});

test('an applied change is audited in the name of who proposed it', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  await approve(account, 1, change);
  const [set, approval, proposal] = await listAuditEntries(service.db, {
    objectId: account.merchant.id,
    limit: 3,
  });
  const [ada, bob] = [personOf(account, 0), personOf(account, 1)];
  expect(proposal).toMatchObject({ action: 'address.propose', person_id: ada.personId });
  expect(approval).toMatchObject({ action: 'address.approve', person_id: bob.personId });
  expect(set).toMatchObject({
    action: 'address.set',
    actor: ada.actor,
    person_id: ada.personId,
    address: null,
    detail: {
      blockchainId: NETWORK,
      address: change.address,
      replaced: [account.address],
      change: change.id,
      approvedBy: bob.actor,
    },
  });
});

test('nobody can approve who proposed it, joined recently, or has new factors', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  await expect(approve(account, 0, change)).rejects.toThrow('it takes another admin');
  await expect(approve(account, 2, change)).rejects.toThrow('takes a Merchant Admin');
  const bob = personOf(account, 1);
  const now = new Date(service.clock.now - DELAY_MS + 60_000);
  await updatePerson(service.db, bob.personId, { factors_since: now });
  await expect(approve(account, 1, change)).rejects.toThrow(
    /long enough: .* from 20\d\d-.* UTC on/,
  );
  service.clock.now += 59_999;
  await expect(approve(account, 1, change)).rejects.toThrow('long enough');
  service.clock.now += 1;
  expect((await approve(account, 1, change)).outcome).toBe('applied');
});

test('for a day after a link gave somebody factors, they can neither propose nor approve', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  const recovered_at = new Date(service.clock.now);
  await updatePerson(service.db, personOf(account, 1).personId, { recovered_at });
  service.clock.now += 24 * HOUR_MS - 1;
  await expect(approve(account, 1, change)).rejects.toThrow('A link gave you a new password');
  await expect(proposeIn(account, 1)).rejects.toThrow('A link gave you a new password');
  // Nothing else makes it wait: the change of the first admin is in force now.
  service.clock.now += 1;
  await tick();
  expect(await inForce(account)).toEqual([change.address]);
  expect((await proposeIn(account, 1)).outcome).toBeNull();
});

test('removing an address and setting it again by command does not revive a change', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  const owner = { merchantId: account.merchant.id, branchId: account.branches[0] };
  await setAddress(operatorOf(service), owner, NETWORK, account.address);
  await expect(approve(account, 1, change)).rejects.toThrow('does not wait any more');
  service.clock.now += DELAY_MS;
  await tick();
  expect(await inForce(account)).toEqual([account.address]);
});

test('a newly required second admin is required for pending changes, too', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  await requireSecondAdmin(personOf(account, 1), account.merchant.id);
  service.clock.now += 10 * DELAY_MS;
  await tick();
  expect(await inForce(account)).toEqual([account.address]);
  expect((await approve(account, 1, change)).outcome).toBe('applied');
  const alone = await openAccount(service, ['admin', 'member']);
  await expect(requireSecondAdmin(personOf(alone, 0), alone.merchant.id)).rejects.toThrow(
    'invite a second one first',
  );
});

test('a branch becomes the main one while an address changes', async () => {
  const account = await openOldAccount();
  const { merchant, branches } = account;
  const wanted = { merchantId: merchant.id, branchId: branches[1] };
  const change = await proposeMainBranch(personOf(account, 0), wanted, DELAY_MS);
  expect((await readInForce(service.db, account)).main).toBe(0);
  await expect(proposeMainBranch(personOf(account, 1), wanted, DELAY_MS)).rejects.toThrow(
    'waits already',
  );
  service.clock.now = change.effective_at.getTime();
  await tick();
  expect((await readInForce(service.db, account)).main).toBe(1);
});

test('the database protects what was proposed, and that a change has ended', async () => {
  const account = await openOldAccount();
  const change = await proposeIn(account);
  const update = (columns: object) =>
    service.db.updateTable('address_changes').set(columns).where('id', '=', change.id).execute();
  const refused = { code: '23000' };
  await expect(update({ address: newAddress() })).rejects.toMatchObject(refused);
  await expect(update({ effective_at: new Date(0) })).rejects.toMatchObject(refused);
  await update({ needs_approval: true });
  await expect(update({ needs_approval: false })).rejects.toMatchObject(refused);
  await cancelChange(personOf(account, 1), account.merchant.id, change.id);
  await expect(update({ outcome: null, ended_at: null })).rejects.toMatchObject(refused);
  await expect(update({ outcome: 'applied' })).rejects.toMatchObject(refused);
});

test('an address is checked as the command does, and never repeated in a refusal', async () => {
  const { merchant, branches } = await openOldAccount();
  const [branchId] = branches;
  const check = (text: string, blockchainId: string = NETWORK) => {
    const wanted = { kind: 'address.set', merchantId: merchant.id, branchId, blockchainId, text };
    return checkAddress(service.db, { ...wanted, kind: 'address.set' }, new Date(service.clock()));
  };
  const wrong = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267';
  await expect(check(wrong)).rejects.toThrow('The address is refused: ');
  await expect(check(wrong)).rejects.not.toThrow(wrong);
  await expect(check(newAddress(), 'nowhere')).rejects.toThrow('There is no network');
});

test('a token’s contract, including a configured one, is refused as a merchant’s address', async () => {
  const { merchant, branches } = await openOldAccount();
  const [branchId] = branches;
  const contract = newAddress();
  const setContract = (text: string | null) =>
    updateNetwork(service.db, 'eth-usdt-test', { contract: text });
  const owner = { merchantId: merchant.id, branchId };
  // It was accepted before the contract was configured, and can still be removed.
  await setAddress(operatorOf(service), owner, NETWORK, contract);
  await setContract(contract);
  try {
    const refusal = 'this is the contract of eth-usdt-test, not a wallet';
    await expect(setAddress(operatorOf(service), owner, 'bnb', contract)).rejects.toThrow(refusal);
    const wanted = { ...owner, kind: 'address.add' as const, blockchainId: 'bnb', text: contract };
    await expect(
      checkAddress(service.db, { ...wanted, branchId: branchId ?? '' }, new Date(service.clock())),
    ).rejects.toThrow(refusal);
    await removeAddress(operatorOf(service), owner, NETWORK, contract);
  } finally {
    await setContract(null);
  }
});
