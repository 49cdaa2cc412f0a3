import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ScanRequest, TransactionReport } from '../../../src/chains/adapter.ts';
import type { Merchant } from '../../../src/database/account-tables.ts';
import { findChain } from '../../../src/repositories/chains.ts';
import { listOpenFindings } from '../../../src/repositories/findings.ts';
import { updateOpenPayment } from '../../../src/repositories/payment-moves.ts';
import { findPayment } from '../../../src/repositories/payments.ts';
import { insertReservation } from '../../../src/repositories/reservations.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { ModelChain } from '../model-chain.ts';
import { createModelWatcher, type ModelWatcher, watchModel } from '../model-watcher.ts';

const MINUTE_MS = 60_000;
const FINAL_DEPTH = 4;
const CHAIN = 'eth-test';
const PLACE = { blockchainId: CHAIN, address: 'A', tokenAmount: 5_000n };

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let watcher: ModelWatcher;
let id: string;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
/** A payment, and a transfer for it that has been seen in its block. */
beforeEach(async () => {
  const { db, clock } = service;
  clock.now += 24 * 60 * MINUTE_MS;
  await sql`truncate deposits, reservations, findings cascade`.execute(db);
  await watchModel(db, CHAIN, 'final');
  model = new ModelChain(clock, FINAL_DEPTH);
  clock.now += MINUTE_MS;
  watcher = createModelWatcher({ db, clock, model, chain: CHAIN });
  ({ id } = await addPayment(db, merchant, {
    created_at: new Date(clock.now),
    expires_at: new Date(clock.now + 15 * MINUTE_MS),
  }));
  await insertReservation(db, id, PLACE, new Date(clock.now));
  const { blockchainId, address, tokenAmount } = PLACE;
  await updateOpenPayment(db, id, {
    ...{ blockchain_id: blockchainId, address, token_amount: tokenAmount, token_decimals: 18 },
  });
  await tick();
  model.send(PLACE);
  mine();
  await tick();
  expect(await status()).toBe('pending/completed');
});
afterAll(() => service.close());

function mine(count = 1): void {
  service.clock.now += 1_000;
  for (let mined = 0; mined < count; mined++) model.mine();
}

async function tick(): Promise<void> {
  service.clock.now += 6_000;
  while ((await watcher.tick()) === 'more');
}

async function status(): Promise<string> {
  const payment = await findPayment(service.db, id);
  return `${payment?.status}/${payment?.session_status}`;
}

const deposits = () => service.db.selectFrom('deposits').selectAll().execute();

/** What the node says of a transaction from now on. */
function tell(
  change: (report: Extract<TransactionReport, { status: 'included' }>) => object,
): void {
  const { lookUp: own } = model.adapter;
  Object.assign(model.adapter, {
    lookUp: async (...args: Parameters<typeof own>) => {
      const report = await own(...args);
      return report.status === 'included' ? { ...report, ...change(report) } : report;
    },
  });
}

test('the block above the final one is not final', async () => {
  mine(FINAL_DEPTH - 1);
  const [seen] = await deposits();
  expect(seen?.block_height).toBe((model.finalHeight ?? 0) + 1);
  await tick();
  expect(await status()).toBe('pending/completed');
  expect(await deposits()).toMatchObject([{ state: 'seen' }]);
  mine();
  await tick();
  expect(await status()).toBe('successful/completed');
});

test('the second look ends at the final block, above which all may still be undone', async () => {
  const { scan } = model.adapter;
  const requests: ScanRequest[] = [];
  Object.assign(model.adapter, {
    scan: (...args: Parameters<typeof scan>) => {
      requests.push(args[1]);
      return scan(...args);
    },
  });
  mine(FINAL_DEPTH + 2);
  await tick();
  const final = model.finalHeight ?? 0;
  expect((await findChain(service.db, CHAIN))?.swept_height).toBe(final);
  expect(requests.every(({ undoableFrom }) => undoableFrom === final + 1)).toBe(true);
});

test('the check node has to show the transfer in the same block', async () => {
  const check = new ModelChain(service.clock, FINAL_DEPTH);
  for (const transaction of model.blocks.flatMap(({ transactions }) => transactions)) {
    while (check.blocks.length < model.tip.height) check.mine([]);
    check.mine([transaction]);
  }
  for (let mined = 0; mined < 2 * FINAL_DEPTH; mined++) check.mine([]);
  watcher.check = check;
  mine(FINAL_DEPTH);
  await tick();
  await tick();
  expect(await status()).toBe('pending/completed');
  expect(await listOpenFindings(service.db, 10)).toMatchObject([{ kind: 'disagreement' }]);
  watcher.check = model;
  await tick();
  expect(await status()).toBe('successful/completed');
});

test('a transfer that has another amount when it is asked for again is not final', async () => {
  tell(({ transfers }) => ({
    transfers: transfers.map(each => ({ ...each, tokenAmount: each.tokenAmount - 1n })),
  }));
  mine(FINAL_DEPTH);
  await tick();
  await tick();
  expect(await status()).not.toMatch('successful');
  expect((await deposits()).filter(({ state }) => state === 'final')).toEqual([]);
});

test('a transfer that is in another block when it is asked for again is not final by the old one', async () => {
  mine(FINAL_DEPTH - 1);
  await tick();
  // The node that was asked before had another chain: this one has it in a later block, which was scanned.
  const before = model.blocks.find(({ transactions }) => transactions.length > 0);
  const { tip } = model;
  Object.assign(tip, { transactions: before?.transactions });
  Object.assign(before ?? {}, { transactions: [] });
  mine();
  await tick();
  expect(await status()).toBe('pending/completed');
  expect(await deposits()).toMatchObject([{ state: 'seen', block_hash: tip.hash }]);
  mine(FINAL_DEPTH);
  await tick();
  expect(await status()).toBe('successful/completed');
  expect(await deposits()).toMatchObject([{ state: 'final', block_hash: tip.hash }]);
});
