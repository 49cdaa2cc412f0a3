import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HELD_FOR_MS } from '#accounts/address-holders.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import { newAddress } from '../accounts/account-of-changes.ts';
import { addPayment } from '../helpers/payments.ts';
import { simulatedTransfer } from '../helpers/see-transfer.ts';
import { mp, mpHere, type Operated, startOperated } from './mp.ts';

let service: Operated;
let shop: string;
let rival: string;
beforeAll(async () => {
  service = await startOperated();
  [shop, rival] = [await createMerchant('Shop'), await createMerchant('Rival')];
});
afterAll(() => service.close());

async function createMerchant(name: string): Promise<string> {
  const args = ['merchant', 'create', '--name', name, '--email', 'shop@example.com'];
  return (await service.ask<{ id: string }>(...args)).id;
}

const args = (verb: string, merchant: string, blockchain: string, address: string) => [
  ...['address', verb, '--merchant', merchant, '--blockchain', blockchain, '--address', address],
];

/** A transfer that no payment takes. */
async function arrive(address: string): Promise<string> {
  const now = new Date();
  const transfer = simulatedTransfer({
    blockchainId: 'eth',
    transactionHash: `0x${address}`,
    address,
    tokenAmount: 77n,
    occurredAt: now,
  });
  return (await observeTransfer(service.db, transfer, now)).id;
}

interface Listed {
  readonly id: string;
  readonly merchantIds: readonly string[];
  readonly isShared: boolean;
}

async function listed(id: string): Promise<Listed | undefined> {
  return (await service.ask<Listed[]>('deposit', 'list', '--unmatched')).find(
    each => each.id === id,
  );
}

test('an address of another merchant is refused, says who has it, and changes nothing', async () => {
  const address = newAddress();
  await service.ask(...args('set', shop, 'eth', address));
  for (const verb of ['set', 'add']) {
    expect(await service.refused(...args(verb, rival, 'bnb', address))).toBe(
      `The address is not free: merchant ${shop} has it. If it is merchant ${rival}'s alone, remove it there, then mp address release --merchant ${shop} --blockchain bnb --address ${address}. If both are of one owner, repeat the command with --shared ${shop}.`,
    );
  }
  const id = await arrive(address);
  expect(await listed(id)).toMatchObject({ merchantIds: [shop], isShared: false });
  expect(await service.ask('address', 'list', '--merchant', rival)).toEqual([]);
});

test('of two concurrent commands in two processes, one gets the address', async () => {
  for (let round = 0; round < 2; round++) {
    const address = newAddress();
    const outcomes = await Promise.all(
      [shop, rival].map(merchant => mp(args('add', merchant, 'avax', address), service.env)),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual([0, 1]);
    expect(outcomes.map(({ err }) => err).join('')).toContain('The address is not free');
  }
});

describe('two merchants of one owner', () => {
  const address = newAddress();

  test('share an address if the operator names the other one', async () => {
    await service.ask(...args('set', shop, 'eth', address));
    const set = args('set', rival, 'eth', address);
    const unnamed = await mpHere([...set, '--shared'], service.env);
    expect(unnamed.status).toBe(2);
    expect(unnamed.err).toContain('--shared <merchant>');
    expect(await service.refused(...set, '--shared', rival)).toContain(
      'does not have this address',
    );
    expect(await service.ask(...set, '--shared', shop)).toMatchObject({ address });
    const entries = await service.ask<{ action: string; detail: object }[]>(
      ...['audit', '--object', shop, '--limit', '50'],
    );
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: 'address.share',
        objectId: shop,
        detail: { blockchainId: 'eth', address, merchantIds: [rival] },
      }),
    );
  });

  test('are both named where a deposit is listed, and by the doctor', async () => {
    const id = await arrive(address);
    const deposit = await listed(id);
    expect(deposit?.isShared).toBe(true);
    expect(deposit?.merchantIds.toSorted()).toEqual([shop, rival].sort());
    const table = await mpHere(['deposit', 'list', '--unmatched'], service.env);
    expect(table.out).toContain('(shared address)');
    for (const merchant of [shop, rival]) {
      const { out } = await mpHere(['doctor', merchant], service.env);
      expect(out).toContain(`Another merchant has ${address} as well`);
    }
  });
});

test('an address that a payer was shown is kept until the time in the refusal, or until it is released', async () => {
  const address = newAddress();
  const owner = await createMerchant('Owner');
  await service.ask(...args('set', owner, 'eth', address));
  const merchant = await findMerchant(service.db, owner);
  if (merchant === undefined) throw new Error('it was created');
  const { id } = await addPayment(service.db, merchant, { created_at: new Date() });
  await sql`
    insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, released_at)
    values (${id}, 'eth', ${address}, 1, now(), now())`.execute(service.db);
  await service.ask(...args('remove', owner, 'eth', address));
  const refusal = await service.refused(...args('set', rival, 'bnb', address));
  const until = /merchant \S+ had it, and keeps it until (\S+Z)/.exec(refusal)?.[1] ?? '';
  expect(Math.abs(Date.parse(until) - Date.now() - HELD_FOR_MS)).toBeLessThan(60_000);
  expect(refusal).toContain('alone, mp address release');
  const released = await mpHere(args('release', owner, 'bnb', address), service.env);
  expect(released).toMatchObject({ status: 0, err: '' });
  expect(released.out).toContain('Released.');
  await service.ask(...args('set', rival, 'bnb', address));
  expect(await service.refused(...args('release', owner, 'bnb', address))).toBe(
    'The merchant does not have this address.',
  );
});
