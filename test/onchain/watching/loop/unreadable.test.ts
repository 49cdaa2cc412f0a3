import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LookUpRequest, ScanRequest } from '#chains/adapter.ts';
import { chainOf } from '#chains/chain-list.ts';
import type { BalanceQuery } from '#chains/internal-transfers.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { listOpenFindings, resolveFinding } from '#storage/repositories/chains/findings.ts';
import { addRescan, listOpenRescans } from '#storage/repositories/chains/rescans.ts';
import { countHeldPayments } from '#storage/repositories/chains/status.ts';
import { listDust } from '#storage/repositories/deposits/dust.ts';
import { lockLapsedQuotes, updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import { ModelChain } from '../model-chain.ts';
import { beginModel, FINAL_DEPTH, type ModelWatcher } from '../model-watcher.ts';

const MINUTE_MS = 60_000;
const CHAIN = 'eth-test';

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

const now = () => new Date(service.clock.now);

/** A payment at the address, open for a quarter of an hour. */
async function ask(amount: bigint, address: string): Promise<string> {
  const slot = { blockchainId: CHAIN, address, tokenAmount: amount };
  const expires_at = new Date(service.clock.now + 15 * MINUTE_MS);
  return (await addPaymentAt(service, merchant, slot, { expires_at })).id;
}

const send = (tokenAmount: bigint, address: string) =>
  model.send({ blockchainId: CHAIN, address, tokenAmount });

function mine(empty = 0): void {
  service.clock.now += 1_000;
  model.mine();
  for (let mined = 0; mined < empty; mined++) model.mine([]);
}

async function tick(): Promise<void> {
  service.clock.now += 6_000;
  while ((await watcher.tick()) === 'more');
}

/** Passes time, while blocks are made and scanned. */
async function wait(minutes: number): Promise<void> {
  service.clock.now += minutes * MINUTE_MS;
  mine();
  await tick();
  service.clock.now += chainOf(CHAIN).secondLookAfterMs;
  await tick();
}

const statusOf = (id: string) => stateOfPayment(service.db, id);
const findings = () => listOpenFindings(service.db, 100);

test('a transaction that cannot be read is a finding of its own, and holds its address only', async () => {
  const { db } = service;
  const [held, paid, unpaid] = [await ask(5n, 'A'), await ask(6n, 'B'), await ask(7n, 'C')];
  await tick();
  const { hash } = send(5n, 'A');
  model.unreadable.add(hash);
  send(6n, 'B');
  mine();
  const height = model.tip.height;
  await tick();
  expect(await statusOf(paid)).toBe('pending/completed');
  expect((await findChain(db, CHAIN))?.cursor_height).toBe(height);
  const finding = { kind: 'unreadable', transaction_hash: hash, address: 'A', height };
  expect(await findings()).toMatchObject([{ ...finding, blockchain_id: CHAIN }]);

  mine(FINAL_DEPTH);
  await wait(20);
  await expirePayments(db, now(), 100);
  expect(await Promise.all([held, paid, unpaid].map(statusOf))).toEqual([
    ...['pending/pending', 'successful/completed', 'expired/expired'],
  ]);
  expect(await countHeldPayments(db, now())).toMatchObject([{ blockchainId: CHAIN, count: 1 }]);
  expect(await findings()).toMatchObject([finding]);

  // The node can be read again, or the service has learned the kind of transaction.
  model.unreadable.clear();
  await wait(1);
  expect(await findings()).toEqual([]);
  expect(await statusOf(held)).toMatch('completed');
  await wait(1);
  expect(await statusOf(held)).toBe('successful/completed');
});

test('a payment is held until somebody has looked, and one that is opened later is not', async () => {
  const { db } = service;
  const held = await ask(5n, 'A');
  await updateOpenPayment(db, held, { quoted_until: new Date(service.clock.now + MINUTE_MS) });
  await tick();
  model.unreadable.add(send(5n, 'A').hash);
  mine();
  await tick();
  service.clock.now += 1_000;
  const later = await ask(6n, 'A');
  await wait(20);
  expect(await lockLapsedQuotes(db, now(), 100)).toEqual([]);
  await expirePayments(db, now(), 100);
  expect(await statusOf(held)).toBe('pending/pending');
  expect(await statusOf(later)).toBe('expired/expired');
  const [finding] = await findings();
  await resolveFinding(db, finding?.id ?? '', now());
  expect((await lockLapsedQuotes(db, now(), 100)).map(({ id }) => id)).toEqual([held]);
  await expirePayments(db, now(), 100);
  expect(await statusOf(held)).toBe('expired/expired');
});

test('a balance that cannot be read holds up no other, and is compared once it can be', async () => {
  const { db } = service;
  await Promise.all([ask(5n, 'A'), ask(6n, 'B')]);
  let isOdd = false;
  let held = 0n;
  Object.assign(model.adapter, {
    internal: {
      readBalances: async (_node: unknown, { addresses }: BalanceQuery) =>
        addresses.map(address => (isOdd && address === 'A' ? null : held)),
      readMovements: async () => [],
      trace: async () => null,
    },
  });
  await tick();
  isOdd = true;
  held = 9n;
  await wait(2);
  const inflow = { kind: 'unexplained_inflow', amount: '9' };
  expect(await findings()).toMatchObject([{ ...inflow, address: 'B' }]);
  const until = (await findChain(db, CHAIN))?.watched_until?.getTime() ?? 0;
  expect(until).toBeGreaterThan(service.clock.now - MINUTE_MS);
  isOdd = false;
  await wait(2);
  expect(await findings()).toMatchObject([
    { ...inflow, address: 'B' },
    { ...inflow, address: 'A' },
  ]);
});

test('a transaction that cannot even be identified is read again with its block', async () => {
  const id = await ask(5n, 'A');
  await tick();
  model.isNameless = true;
  model.unreadable.add(send(5n, 'A').hash);
  mine();
  const { height } = model.tip;
  await tick();
  expect(await findings()).toMatchObject([{ transaction_hash: null, address: null, height }]);
  expect(await statusOf(id)).toBe('pending/pending');
  model.unreadable.clear();
  await wait(1);
  expect(await findings()).toEqual([]);
  expect(await statusOf(id)).toBe('pending/completed');
});

test('a transaction that turns out to be worthless is no deposit, and is counted once', async () => {
  await ask(10_000n, 'A');
  await tick();
  model.unreadable.add(send(1n, 'A').hash);
  mine();
  await tick();
  expect(await findings()).toMatchObject([{ kind: 'unreadable', address: 'A' }]);
  expect(await listDust(service.db, 10)).toEqual([]);
  model.unreadable.clear();
  await wait(1);
  expect(await findings()).toEqual([]);
  mine(FINAL_DEPTH);
  await tick();
  expect(await service.db.selectFrom('deposits').selectAll().execute()).toEqual([]);
  expect(await listDust(service.db, 10)).toMatchObject([{ address: 'A', transfers: 1 }]);
});

test('a block full of unreadable transactions is one finding', async () => {
  await ask(5n, 'A');
  await tick();
  model.isNameless = true;
  for (let sent = 0; sent < 50; sent++) model.unreadable.add(send(1n, 'elsewhere').hash);
  mine();
  await tick();
  const [only, ...others] = await findings();
  expect(others).toEqual([]);
  expect(only).toMatchObject({ height: model.tip.height, address: null });
  expect(only?.detail).toContain('50 elements');
});

/** Makes the model's node not know the transaction of this hash. */
function leaveOut(hash: string): void {
  const { lookUp } = model.adapter;
  Object.assign(model.adapter, {
    lookUp: async (node: Node, request: LookUpRequest) =>
      request.transactionHash === hash ? { status: 'unknown' } : lookUp(node, request),
  });
}

test.each<[string, (hash: string) => void]>([
  ['cannot be read any more', hash => void model.unreadable.add(hash)],
  ['is missing, though its block is there', hash => leaveOut(hash)],
])('a deposit whose transaction %s stays as it is, and holds up no other', async (_, hide) => {
  const [id, other] = [await ask(5n, 'A'), await ask(6n, 'B')];
  await tick();
  const { lookUp } = model.adapter;
  const { hash } = send(5n, 'A');
  send(6n, 'B');
  mine();
  await tick();
  hide(hash);
  mine(FINAL_DEPTH);
  await tick();
  expect(await statusOf(other)).toBe('successful/completed');
  expect(await statusOf(id)).toBe('pending/completed');
  expect(await findings()).toMatchObject([{ kind: 'unreadable', transaction_hash: hash }]);
  model.unreadable.clear();
  Object.assign(model.adapter, { lookUp });
  await wait(1);
  expect(await statusOf(id)).toBe('successful/completed');
  expect(await findings()).toEqual([]);
});

/** Makes the model's node fail when it is asked for one transaction. */
function failAt(chain: ModelChain, hash: string): void {
  const { lookUp } = chain.adapter;
  Object.assign(chain.adapter, {
    lookUp: async (node: Node, request: LookUpRequest) => {
      if (request.transactionHash === hash)
        throw new NodeFailure('its answers do not fit together');
      return lookUp(node, request);
    },
  });
}

test('a deposit whose transaction the node fails at is a finding, and keeps no other from being final', async () => {
  const [id, other] = [await ask(5n, 'A'), await ask(6n, 'B')];
  await tick();
  const { lookUp } = model.adapter;
  const { hash } = send(5n, 'A');
  failAt(model, hash);
  send(6n, 'B');
  mine(FINAL_DEPTH);
  await tick();
  expect(await statusOf(other)).toBe('successful/completed');
  expect(await statusOf(id)).toBe('pending/completed');
  expect(await findings()).toMatchObject([{ kind: 'unreadable', transaction_hash: hash }]);
  Object.assign(model.adapter, { lookUp });
  await wait(1);
  expect(await statusOf(id)).toBe('successful/completed');
  expect(await findings()).toEqual([]);
});

test('a check node that fails at one transaction confirms the others, and says nothing of that one', async () => {
  const [id, other] = [await ask(5n, 'A'), await ask(6n, 'B')];
  await tick();
  const { hash } = send(5n, 'A');
  send(6n, 'B');
  mine(FINAL_DEPTH);
  const check = new ModelChain(service.clock, FINAL_DEPTH);
  Object.assign(check, { blocks: model.blocks });
  failAt(check, hash);
  watcher.check = check;
  await tick();
  expect(await statusOf(other)).toBe('successful/completed');
  expect(await statusOf(id)).toBe('pending/completed');
  expect(await findings()).toEqual([]);
  watcher.check = model;
  mine();
  await tick();
  expect(await statusOf(id)).toBe('successful/completed');
});

test('a block that the node fails to trace holds up nothing for long, and is a finding', async () => {
  await ask(5n, 'A');
  let held = 0n;
  Object.assign(model.adapter, {
    internal: {
      readBalances: async (_node: unknown, { addresses }: BalanceQuery) =>
        addresses.map(() => held),
      readMovements: async () => [],
      trace: async () => {
        throw new NodeFailure('the trace lacks a transaction');
      },
    },
  });
  await tick();
  held = 9n;
  service.clock.now += MINUTE_MS;
  mine();
  const reached = async () => (await findChain(service.db, CHAIN))?.watched_until;
  const before = await reached();
  for (let look = 1; look <= 2; look++) await expect(tick()).rejects.toThrow(NodeFailure);
  expect(await reached()).toEqual(before);
  await tick();
  expect(await reached()).not.toEqual(before);
  expect(await findings()).toMatchObject([{ kind: 'unexplained_inflow', amount: '9' }]);
});

test('a rescan that the node cannot do does not block another one', async () => {
  const { db } = service;
  await tick();
  const { scan } = model.adapter;
  Object.assign(model.adapter, {
    scan: async (node: Node, request: ScanRequest) => {
      if (request.from === 3) throw new NodeFailure('block 3 is pruned');
      return scan(node, request);
    },
  });
  for (const height of [3, 4]) {
    const blocks = { blockchainId: CHAIN, from: height, to: height, askedBy: 'operator' };
    await addRescan(db, blocks, now());
  }
  await ask(5n, 'A');
  for (let look = 0; look < 4; look++) {
    mine();
    await tick();
  }
  expect(await listOpenRescans(db, 10)).toMatchObject([{ from_height: 3 }]);
  Object.assign(model.adapter, { scan });
  await wait(1);
  expect(await listOpenRescans(db, 10)).toEqual([]);
});

test('a transfer that a reorganisation has undone and that then cannot be read is a finding, and not reversed', async () => {
  const id = await ask(5n, 'A');
  await tick();
  const { hash } = send(5n, 'A');
  mine();
  await tick();
  model.reorganise(1, () => false);
  model.unreadable.add(hash);
  mine();
  await tick();
  expect(await statusOf(id)).toBe('pending/completed');
  // One finding for its new block, one for the deposit.
  const found = { kind: 'unreadable', transaction_hash: hash };
  expect(await findings()).toMatchObject([found, { ...found, height: null }]);
  model.unreadable.clear();
  await wait(1);
  expect(await findings()).toEqual([]);
  mine(FINAL_DEPTH);
  await tick();
  expect(await statusOf(id)).toBe('successful/completed');
});

test('a transfer that is nowhere any more is reversed, and its finding is resolved', async () => {
  const id = await ask(5n, 'A');
  await tick();
  const { hash } = send(5n, 'A');
  mine();
  await tick();
  model.reorganise(1, () => true);
  const { lookUp } = model.adapter;
  failAt(model, hash);
  await tick();
  expect(await findings()).toMatchObject([{ transaction_hash: hash, height: null }]);
  Object.assign(model.adapter, { lookUp });
  await wait(1);
  expect(await statusOf(id)).toBe('pending/pending');
  expect(await findings()).toEqual([]);
});
