import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import type { ModelChain } from '../model-chain.ts';
import { beginModel, createModelWatcher, lapseLease, type ModelWatcher } from '../model-watcher.ts';

const MINUTE_MS = 60_000;
const CHAIN = 'eth-test';
const SLOT = { blockchainId: CHAIN, address: 'A', tokenAmount: 5_000n };

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let watcher: ModelWatcher;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(async () => {
  ({ model, watcher } = await beginModel(service, CHAIN));
});
afterAll(() => service.close());

async function ask(): Promise<string> {
  return (await addPaymentAt(service, merchant, SLOT)).id;
}

async function tick(afterMs: number): Promise<string[]> {
  service.clock.now += afterMs;
  const results: string[] = [];
  do results.push(await watcher.tick());
  while (results.at(-1) === 'more');
  return results;
}

test('a transfer in a block that has replaced the newest one of the last poll was made since that poll', async () => {
  model.mine([]);
  await tick(31_000);
  model.mine([]);
  await tick(31_000);
  service.clock.now += 5_000;
  const id = await ask();
  service.clock.now += 5_000;
  model.send(SLOT);
  const undone = model.blocks.pop();
  model.mine();
  expect(model.tip.height).toBe(undone?.height);
  model.mine([]);
  await tick(5_000);
  expect(await findPayment(service.db, id)).toMatchObject({ session_status: 'completed' });
});

test('blocks whose clocks lag are not skipped as older than the payment', async () => {
  ({ model, watcher } = await beginModel(service, 'btc-test'));
  const asked = new Date(service.clock.now);
  const slot = { ...SLOT, blockchainId: 'btc-test' };
  const { id } = await addPaymentAt(service, merchant, slot);
  model.send(slot);
  model.mine();
  Object.assign(model.tip, { time: new Date(asked.getTime() - 90 * MINUTE_MS) });
  for (const block of model.blocks.slice(0, -1)) {
    Object.assign(block, { time: new Date(asked.getTime() - 150 * MINUTE_MS) });
  }
  await tick(MINUTE_MS);
  expect(await findPayment(service.db, id)).toMatchObject({ session_status: 'completed' });
});

test('blocks are not skipped because of an estimate of when the newest one was made', async () => {
  model.mine([]);
  await tick(31_000);
  await tick(31_000);
  service.clock.now += 10_000;
  const id = await ask();
  // No block is made for so long, and the times of heads are estimated from the usual slot time.
  const before = model.tip.time;
  service.clock.now += 30 * MINUTE_MS;
  model.send(SLOT);
  model.mine();
  const { readHeads } = model.adapter;
  Object.assign(model.adapter, {
    readHeads: async (...args: Parameters<typeof readHeads>) => {
      const heads = await readHeads(...args);
      return { ...heads, tip: { ...heads.tip, time: new Date(before.getTime() + 400) } };
    },
  });
  watcher = createModelWatcher({ ...service, model, chain: CHAIN, holder: 'a' });
  await lapseLease(service.db, CHAIN);
  await tick(1_000);
  expect(await findPayment(service.db, id)).toMatchObject({ session_status: 'completed' });
});
