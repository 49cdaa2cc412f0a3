import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '#crypto/new-id.ts';
import { LeaseLost } from '#onchain/watching/lease.ts';
import { resumeWatching } from '#onchain/watching/operate/operate-chain.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { insertNode } from '#storage/repositories/chains/nodes.ts';
import { addMerchant, operatorOf } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import type { ModelChain } from '../model-chain.ts';
import { beginModel, type ModelWatcher } from '../model-watcher.ts';

const CHAIN = 'eth-test';
const AMOUNT = 5_000n;

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let watcher: ModelWatcher;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
  const now = new Date(service.clock.now);
  await insertNode(service.db, {
    id: newId(),
    chain: CHAIN,
    role: 'primary',
    position: 1,
    label: 'model',
    access: Buffer.of(0),
    master_key_version: 1,
    requests_per_second: 10,
    abilities: { trace: null, logRange: null, batch: 1, archive: false, pruneHeight: null },
    verified_at: now,
    created_at: now,
    updated_at: now,
  });
});
afterAll(() => service.close());

beforeEach(async () => {
  ({ model, watcher } = await beginModel(service, CHAIN));
});

async function ask(address: string): Promise<string> {
  const slot = { blockchainId: CHAIN, address, tokenAmount: AMOUNT };
  return (await addPaymentAt(service, merchant, slot)).id;
}

async function tick(): Promise<string> {
  service.clock.now += 6_000;
  for (;;) {
    const result = await watcher.tick();
    if (result !== 'more') return result;
  }
}

const statusOf = (id: string) => stateOfPayment(service.db, id);

/** Sees a transfer to A, then halts the chain: the new branch has a transfer to B and none to A. */
async function halt(): Promise<{ fork: number; gone: string; paid: string }> {
  const [gone, paid] = [await ask('A'), await ask('B')];
  await tick();
  const lost = model.send({ blockchainId: CHAIN, address: 'A', tokenAmount: AMOUNT });
  model.mine();
  await tick();
  expect(await statusOf(gone)).toBe('pending/completed');
  model.reorganise(model.blocks.length - 1, transaction => transaction === lost);
  model.send({ blockchainId: CHAIN, address: 'B', tokenAmount: AMOUNT });
  model.mine();
  const fork = model.tip.height;
  for (let mined = 0; mined < 30; mined++) model.mine([]);
  expect(await tick()).toBe('halted');
  return { fork, gone, paid };
}

test('a halted chain resumes from a given block, and what is gone is reversed', async () => {
  const { fork, gone, paid } = await halt();
  const resumed = await resumeWatching(operatorOf(service), CHAIN, fork);
  expect(resumed).toMatchObject({ halted: null, cursor_height: fork - 1, swept_height: fork - 1 });
  expect(await tick()).toBe('done');
  expect(await statusOf(paid)).toBe('successful/completed');
  expect(await statusOf(gone)).toBe('pending/pending');
  const states = await service.db
    .selectFrom('deposits')
    .select('state')
    .orderBy('address')
    .execute();
  expect(states).toEqual([{ state: 'reversed' }, { state: 'final' }]);
});

test('without a given block it resumes after the last scanned one', async () => {
  const { gone } = await halt();
  const { cursor_height: cursor = null } = (await findChain(service.db, CHAIN)) ?? {};
  await resumeWatching(operatorOf(service), CHAIN, null);
  expect(await tick()).toBe('done');
  expect(await statusOf(gone)).toBe('pending/pending');
  const state = await findChain(service.db, CHAIN);
  expect(state).toMatchObject({ halted: null, cursor_height: model.tip.height });
  expect(cursor).toBeLessThan(model.tip.height);
});

test('a tick that is running when a chain is resumed writes nothing', async () => {
  await ask('A');
  await tick();
  model.send({ blockchainId: CHAIN, address: 'A', tokenAmount: AMOUNT });
  model.mine();
  let steps = 0;
  const running = watcher.tick(async () => {
    steps += 1;
    if (steps === 2) await resumeWatching(operatorOf(service), CHAIN, 5);
  });
  await expect(running).rejects.toBeInstanceOf(LeaseLost);
  expect((await findChain(service.db, CHAIN))?.cursor_height).toBe(4);
});
