import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScanRequest, TransactionReport } from '#chains/adapter.ts';
import { chainOf } from '#chains/chain-list.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { addRescan } from '#storage/repositories/chains/rescans.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import { ModelChain, type ModelTransaction, type ModelTransfer } from '../model-chain.ts';
import { beginModel, FINAL_DEPTH, type ModelWatcher } from '../model-watcher.ts';

const MINUTE_MS = 60_000;
const CHAIN = 'eth-test';
const PLACE = { blockchainId: CHAIN, address: 'A', tokenAmount: 5_000n };

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let watcher: ModelWatcher;
let id: string;
/** The transaction that pays the payment. */
let sent: ModelTransaction;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
/** A payment, and a transfer for it that was seen in its block. */
beforeEach(async () => {
  ({ model, watcher } = await beginModel(service, CHAIN));
  const expires_at = new Date(service.clock.now + 15 * MINUTE_MS);
  ({ id } = await addPaymentAt(service, merchant, PLACE, { expires_at }));
  await tick();
  sent = model.send(PLACE);
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

const status = () => stateOfPayment(service.db, id);

const deposits = () => service.db.selectFrom('deposits').selectAll().execute();

/** Changes what the node reports of the transaction from now on. */
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

test('the second look ends where the first look was some time ago', async () => {
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
  const seen = model.tip.height;
  expect(requests.filter(({ isSecondLook }) => isSecondLook)).toEqual([]);
  service.clock.now += chainOf(CHAIN).secondLookAfterMs;
  mine();
  await tick();
  expect((await findChain(service.db, CHAIN))?.swept_height).toBe(seen);
  const second = requests.filter(({ isSecondLook }) => isSecondLook);
  expect(second.at(-1)?.to).toBe(seen);
  const undoableFrom = (model.finalHeight ?? 0) + 1;
  expect(second.every(request => request.undoableFrom === undoableFrom)).toBe(true);
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

test('a transfer whose amount changes when it is looked up again is not final with the first amount', async () => {
  tell(({ transfers }) => ({
    transfers: transfers.map(each => ({ ...each, tokenAmount: each.tokenAmount - 1n })),
  }));
  mine(FINAL_DEPTH);
  await tick();
  await tick();
  expect(await status()).not.toMatch('successful');
  const final = (await deposits()).filter(({ state }) => state === 'final');
  expect(final).toMatchObject([{ token_amount: `${PLACE.tokenAmount - 1n}`, outcome: 'under' }]);
});

test.each([
  ['in a later block', false],
  ['after its block was undone', true],
])(
  'a transaction that has failed %s ends no payment until its block is final',
  async (_, isUndone) => {
    if (isUndone) model.reorganise(1, () => true);
    mine(FINAL_DEPTH);
    const block = model.tip;
    const failed: TransactionReport = { status: 'failed', block };
    Object.assign(model.adapter, { lookUp: async () => failed });
    await tick();
    expect(await status()).toBe('pending/completed');
    expect(await deposits()).toMatchObject([{ state: 'seen', payment_id: id }]);
    mine(FINAL_DEPTH);
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'failed', block_hash: block.hash }]);
    expect(await status()).toBe('unsuccessful/completed');
  },
);

test('newly minted coins are final once they can be spent', async () => {
  const maturity = 10;
  tell(({ transfers }) => ({ transfers: transfers.map(each => ({ ...each, maturity })) }));
  mine(maturity - 2);
  await tick();
  expect(await status()).toBe('pending/completed');
  mine();
  await tick();
  expect(await status()).toBe('successful/completed');
});

test('a transfer that has moved to another block when it is looked up again is not final by the old block', async () => {
  mine(FINAL_DEPTH - 1);
  await tick();
  // The previous node had another chain: this one has the transaction in a later block, which was scanned.
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

/** Changes the transfers of the transaction on the chain, even if others were reported before. */
function rewrite(...transfers: ModelTransfer[]): void {
  Object.assign(sent, { transfers });
}

/** Another node that shows the chain as it is now. */
function copyOfModel(): ModelChain {
  const copy = new ModelChain(service.clock, FINAL_DEPTH);
  const blocks = model.blocks.map(block => ({
    ...block,
    transactions: block.transactions.map(({ hash, transfers }) => ({ hash, transfers })),
  }));
  Object.assign(copy, { blocks });
  return copy;
}

const expireDue = () => expirePayments(service.db, new Date(service.clock.now), 100);

/** Has the newest block scanned again. */
async function scanAgain(): Promise<void> {
  const at = model.tip.height;
  const block = { blockchainId: CHAIN, from: at, to: at, askedBy: 'test' };
  await addRescan(service.db, block, new Date(service.clock.now));
  service.clock.now += 6_000;
  await watcher.tick();
}

async function configureAddress(address: string): Promise<void> {
  await sql`
    insert into deposit_addresses (branch_id, blockchain_id, address, updated_at)
    select id, ${CHAIN}, ${address}, now() from branches where merchant_id = ${merchant.id} limit 1`.execute(
    service.db,
  );
}

const findings = async () =>
  (await listOpenFindings(service.db, 10)).map(({ kind, detail }) => ({ kind, detail }));

const corrected = (detail: string) => ({
  kind: 'corrected',
  detail: expect.stringContaining(detail),
});

describe('a transfer that is reported differently while it is not final', () => {
  test('with another amount, twice: it is corrected, and pays what that amount pays', async () => {
    rewrite({ ...PLACE, tokenAmount: 2n * PLACE.tokenAmount });
    await scanAgain();
    expect(await deposits()).toMatchObject([{ token_amount: '5000', block_hash: null }]);
    expect(await status()).toBe('pending/completed');
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'seen', token_amount: '10000' }]);
    expect(await status()).toBe('pending/pending');
    expect(await findings()).toEqual([corrected('Recorded as 5000 to A')]);
    rewrite(PLACE);
    mine(FINAL_DEPTH);
    await tick();
    await tick();
    expect(await deposits()).toMatchObject([{ payment_id: id, token_amount: '5000' }]);
    expect(await status()).toBe('successful/completed');
  });

  test('in a single response, after its payment has ended: it keeps the payment', async () => {
    service.clock.now += 20 * MINUTE_MS;
    await tick();
    rewrite({ ...PLACE, tokenAmount: 2n * PLACE.tokenAmount });
    mine(FINAL_DEPTH);
    await tick();
    rewrite(PLACE);
    await expireDue();
    await tick();
    await tick();
    expect(await status()).toBe('successful/completed');
    expect(await findings()).toEqual([]);
  });

  test('by the check node in its scan only: it keeps the payment', async () => {
    service.clock.now += 20 * MINUTE_MS;
    await tick();
    const liar = copyOfModel();
    for (const { transactions } of liar.blocks)
      for (const each of transactions)
        Object.assign(each, { transfers: [{ ...PLACE, tokenAmount: 10_000n }] });
    mine(FINAL_DEPTH);
    liar.blocks.push(...model.blocks.slice(liar.blocks.length));
    watcher.check = liar;
    await tick();
    await expireDue();
    await tick();
    expect(await status()).toBe('pending/completed');
    expect(await deposits()).toMatchObject([{ payment_id: id, token_amount: '5000' }]);
    watcher.check = model;
    await tick();
    expect(await status()).toBe('successful/completed');
  });

  test('with another receiver or asset: it is reversed, and the new transfer is recorded', async () => {
    const elsewhere = { ...PLACE, address: 'B' };
    await configureAddress('B');
    rewrite(elsewhere);
    mine(FINAL_DEPTH);
    await tick();
    await tick();
    expect(await status()).toBe('pending/pending');
    expect(await deposits()).toMatchObject([
      { address: 'B', payment_id: null, token_amount: '5000' },
    ]);
    expect((await findings())[0]).toEqual(corrected('its transaction does not contain it'));
  });

  test('as missing in a single response: it is looked up again before it is reversed', async () => {
    rewrite();
    mine(FINAL_DEPTH);
    service.clock.now += 6_000;
    await watcher.tick();
    expect(await deposits()).toMatchObject([{ state: 'seen', payment_id: id, block_hash: null }]);
    expect(await status()).toBe('pending/completed');
    rewrite(PLACE);
    await tick();
    await tick();
    expect(await status()).toBe('successful/completed');
  });

  test('by the primary node only: it stays unchanged, and waits for the check node', async () => {
    watcher.check = copyOfModel();
    rewrite({ ...PLACE, tokenAmount: 2n * PLACE.tokenAmount });
    mine(FINAL_DEPTH);
    for (let mined = 0; mined < FINAL_DEPTH; mined++) watcher.check.mine([]);
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'seen', token_amount: '5000' }]);
    expect(await findings()).toMatchObject([{ kind: 'disagreement' }]);
    watcher.check = model;
    await tick();
    await tick();
    expect(await deposits()).toMatchObject([{ token_amount: '10000', payment_id: null }]);
  });
});
