import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import type { Holdings } from '#chains/holdings.ts';
import type { InternalTransfers } from '#chains/internal-transfers.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { Block, WatchedAddress } from '#chains/transfer.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { listOpenFindings, resolveFinding } from '#storage/repositories/chains/findings.ts';
import { countHeldPayments } from '#storage/repositories/chains/status.ts';
import { listPaymentDeposits } from '#storage/repositories/deposits/deposits.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import type { ModelChain } from '../model-chain.ts';
import {
  beginModel,
  createModelWatcher,
  FINAL_DEPTH,
  type ModelWatcher,
} from '../model-watcher.ts';

const MINUTE_MS = 60_000;
const CHAIN = 'bnb-test';
const AMOUNT = 5_000n;

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let watcher: ModelWatcher;
/** Hashes of the transactions that nodes leave out, by the label of the node. */
let hidden: Map<string, Set<string>>;
/** Label of the node that can prove what is in a block; undefined for none. */
let provenBy: string | undefined;
/** Which nodes were asked for a proof, and for which block. */
let provenFor: string[];
/** What the owners of addresses have sent away, by height. */
let spent: { readonly address: string; readonly amount: bigint; readonly height: number }[];

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(async () => {
  ({ model } = await beginModel(service, CHAIN));
  hidden = new Map();
  spent = [];
  provenBy = undefined;
  provenFor = [];
  const { scan } = model.adapter;
  Object.assign(model.adapter, {
    scan: async (...[node, request]: Parameters<typeof scan>) => {
      const found = await scan(node, { ...request, takeAwaited: async () => undefined });
      const transfers = found.transfers.filter(each => !isHidden(node, each.transactionHash));
      return { ...found, transfers };
    },
    holdings,
    async proveTransfers(node: Node, { height }: Block, watch: readonly WatchedAddress[]) {
      provenFor.push(`${node.label} ${height}`);
      const range = { from: height, to: height, parentHash: null, undoableFrom: 0, watch };
      return node.label === provenBy ? (await scan(node, range)).transfers : null;
    },
  });
  const { db, clock } = service;
  watcher = createModelWatcher({ db, clock, model, chain: CHAIN });
});
afterAll(() => service.close());

function isHidden(node: Node, hash: string): boolean {
  return hidden.get(node.label)?.has(hash) === true;
}

/** What has arrived at an address, or what a node shows of it. */
function arrived(address: string, from: number, to: number, shownBy?: Node): bigint {
  let sum = 0n;
  for (const { transaction, block } of model.transactions()) {
    if (block.height <= from || block.height > to) continue;
    if (shownBy !== undefined && isHidden(shownBy, transaction.hash)) continue;
    for (const each of transaction.transfers) if (each.address === address) sum += each.tokenAmount;
  }
  return sum;
}

function left(address: string, from: number, to: number): bigint {
  return spent
    .filter(each => each.address === address && each.height > from && each.height <= to)
    .reduce((sum, { amount }) => sum + amount, 0n);
}

const holdings: Holdings = {
  read: async (_node, { height }, watch) => ({
    height,
    balances: watch.map(({ address }) => arrived(address, -1, height) - left(address, -1, height)),
  }),
  readMoved: async (node, { from, to }, watch) =>
    watch.map(({ address }) => ({
      arrived: arrived(address, from, to, node),
      left: left(address, from, to),
    })),
};

/** Balances of the native asset, for a node that shows whole blocks and cannot trace. */
const internal: InternalTransfers = {
  readBalances: async (_node, { height, addresses }) =>
    addresses.map(address => arrived(address, -1, height) - left(address, -1, height)),
  readMovements: async (node, height, addresses) =>
    addresses.flatMap(address => [
      { address, amount: arrived(address, height - 1, height, node) },
      { address, amount: -left(address, height - 1, height) },
    ]),
  trace: async () => null,
};

const now = () => new Date(service.clock.now);
const statusOf = (id: string) => stateOfPayment(service.db, id);
const findings = () => listOpenFindings(service.db, 100);

/** A payment at the address, open for a quarter of an hour. */
async function ask(address = 'A', tokenAmount = AMOUNT): Promise<string> {
  const slot = { blockchainId: CHAIN, address, tokenAmount };
  const expires_at = new Date(service.clock.now + 15 * MINUTE_MS);
  return (await addPaymentAt(service, merchant, slot, { expires_at })).id;
}

function send(address = 'A', tokenAmount = AMOUNT): string {
  return model.send({ blockchainId: CHAIN, address, tokenAmount }).hash;
}

async function tick(): Promise<void> {
  service.clock.now += 3_000;
  while ((await watcher.tick()) === 'more');
}

/** Makes and scans blocks for some minutes. */
async function pass(minutes: number): Promise<void> {
  for (let half = 0; half < 2 * minutes; half++) {
    service.clock.now += 27_000;
    model.mine();
    for (let mined = 0; mined < FINAL_DEPTH; mined++) model.mine([]);
    await tick();
    await expirePayments(service.db, now(), 100);
  }
}

/** Passes the end of the payments that were opened at the beginning. */
async function passTheEnd(): Promise<void> {
  await pass(1);
  service.clock.now += 14 * MINUTE_MS;
  await pass(2);
}

test('a transfer that the only node never shows holds the payments of its address until somebody has looked', async () => {
  const [held, other] = [await ask(), await ask('B', 7_000n)];
  await tick();
  hidden.set('primary', new Set([send()]));
  await passTheEnd();
  expect(await statusOf(held)).toBe('pending/pending');
  expect(await statusOf(other)).toBe('expired/expired');
  const finding = { kind: 'unexplained_inflow', address: 'A', amount: `${AMOUNT}` };
  expect(await findings()).toMatchObject([{ ...finding, blockchain_id: CHAIN }]);
  expect(await countHeldPayments(service.db, now())).toMatchObject([{ count: 1 }]);
  await resolveFinding(service.db, (await findings())[0]?.id ?? '', now());
  await pass(1);
  expect(await statusOf(held)).toBe('expired/expired');
});

test('a balance that a node shows wrongly for a moment is no finding, and nothing expires meanwhile', async () => {
  const id = await ask();
  let [isWrong, compared] = [true, 0];
  const readMoved: Holdings['readMoved'] = async (...request) => {
    compared += 1;
    const moved = await holdings.readMoved(...request);
    return isWrong ? moved.map(each => each && { ...each, left: each.left + AMOUNT }) : moved;
  };
  Object.assign(model.adapter, { holdings: { ...holdings, readMoved } });
  await tick();
  await pass(1);
  service.clock.now += 14 * MINUTE_MS;
  while (compared === 0) await pass(0.5);
  expect(await statusOf(id)).toBe('pending/pending');
  isWrong = false;
  await pass(2);
  expect(await findings()).toEqual([]);
  expect(await statusOf(id)).toBe('expired/expired');
});

test('a transfer that another node shows is credited', async () => {
  const id = await ask();
  await tick();
  hidden.set('primary', new Set([send()]));
  watcher.second = model;
  await pass(2);
  expect(await statusOf(id)).toBe('successful/completed');
  expect(await findings()).toEqual([]);
});

test.each(['primary', 'second'])(
  'a transfer that a block proves is credited, whichever node shows it: the %s one',
  async label => {
    const id = await ask();
    await tick();
    const hash = send();
    for (const each of ['primary', 'second']) hidden.set(each, new Set([hash]));
    provenBy = label;
    watcher.second = model;
    await pass(3);
    expect(await statusOf(id)).toBe('successful/completed');
    const [paid] = [...model.transactions()].filter(({ transaction }) => transaction.hash === hash);
    expect(provenFor.at(-1)).toBe(`${label} ${paid?.block.height}`);
    expect(await findings()).toEqual([]);
  },
);

test('a transfer that both nodes left out when asked is credited once one shows it', async () => {
  const id = await ask();
  await tick();
  const hash = send();
  for (const label of ['primary', 'second']) hidden.set(label, new Set([hash]));
  watcher.second = model;
  await passTheEnd();
  expect(await statusOf(id)).toBe('pending/pending');
  expect(await findings()).toHaveLength(1);
  hidden.delete('second');
  await pass(3);
  expect(await statusOf(id)).toBe('successful/completed');
  expect(await findings()).toEqual([]);
});

test('a transfer that a lagging server did not show is found by the second look', async () => {
  const id = await ask();
  await tick();
  hidden.set('primary', new Set([send()]));
  service.clock.now += 1_000;
  model.mine();
  for (let mined = 0; mined < FINAL_DEPTH; mined++) model.mine([]);
  for (let looks = 0; looks < 3; looks++) await tick();
  hidden.clear();
  service.clock.now += chainOf(CHAIN).secondLookAfterMs;
  await tick();
  expect(await statusOf(id)).toBe('pending/completed');
});

test.each([9_000n, AMOUNT])(
  'an owner who spends %d hides no transfer, and holds no payment',
  async amount => {
    const [paid, unpaid] = [await ask(), await ask('B', 7_000n)];
    await tick();
    spent = ['A', 'B'].map(address => ({ address, amount, height: model.tip.height + 1 }));
    hidden.set('primary', new Set([send()]));
    await passTheEnd();
    expect(await statusOf(paid)).toBe('pending/pending');
    expect(await statusOf(unpaid)).toBe('expired/expired');
    expect(await findings()).toMatchObject([{ address: 'A', amount: `${AMOUNT}` }]);
  },
);

test('a transfer before the first look at an address is not part of its initial balance', async () => {
  await ask('B', 7_000n);
  await tick();
  const held = await ask();
  hidden.set('primary', new Set([send()]));
  model.mine();
  await tick();
  await passTheEnd();
  expect(await statusOf(held)).toBe('pending/pending');
  expect(await findings()).toMatchObject([{ address: 'A', amount: `${AMOUNT}` }]);
});

test('a transfer right before the end is compared with the ledger before the payment expires', async () => {
  const end = service.clock.now + 15 * MINUTE_MS;
  const id = await ask();
  await tick();
  for (let second = -45; second < 60; second += 5) {
    service.clock.now = end + (second - 3) * 1_000;
    if (second === 0) hidden.set('primary', new Set([send()]));
    model.mine();
    await tick();
    await expirePayments(service.db, now(), 100);
  }
  expect(await statusOf(id)).toBe('pending/pending');
  expect(await findings()).toMatchObject([{ address: 'A', amount: `${AMOUNT}` }]);
});

test('deposits that are recorded beside it, or were before, do not explain it', async () => {
  const [paid, held] = [await ask(), await ask('A', AMOUNT + 1n)];
  await tick();
  send();
  // Every block at which balances are compared has some deposit.
  for (let half = 0; half < 4; half++) {
    send('A', 9_000n);
    service.clock.now += 27_000;
    for (let mined = 0; mined < FINAL_DEPTH; mined++) model.mine([]);
    model.mine();
    await tick();
  }
  send('A', 9_000n);
  hidden.set('primary', new Set([send('A', AMOUNT + 1n)]));
  await passTheEnd();
  expect(await statusOf(paid)).toBe('successful/completed');
  expect(await statusOf(held)).toBe('pending/pending');
  expect(await findings()).toMatchObject([{ address: 'A', amount: `${AMOUNT + 1n}` }]);
});

test('a transfer of the native asset that another node has shown explains a rise found again after a fork', async () => {
  Object.assign(model.adapter, { internal });
  const id = await ask();
  await tick();
  hidden.set('primary', new Set([send()]));
  watcher.second = model;
  model.mine();
  model.mine([]);
  service.clock.now += MINUTE_MS;
  await tick();
  expect(await statusOf(id)).toBe('pending/completed');
  model.reorganise(1, () => true);
  spent = [{ address: 'A', amount: 1_000n, height: model.tip.height }];
  service.clock.now += MINUTE_MS;
  await tick();
  expect(await listPaymentDeposits(service.db, id)).toMatchObject([{ state: 'seen' }]);
  expect(await findings()).toEqual([]);
});

test('funds that leave within the same minute do not hide funds that arrive', async () => {
  Object.assign(model.adapter, { internal });
  const id = await ask();
  await tick();
  hidden.set('primary', new Set([send()]));
  model.mine();
  spent = [{ address: 'A', amount: AMOUNT - 1n, height: model.tip.height }];
  await passTheEnd();
  expect(await statusOf(id)).toBe('pending/pending');
  expect(await findings()).toMatchObject([{ address: 'A', amount: `${AMOUNT}` }]);
});

test('a branch that is abandoned while its balances are explained causes no finding', async () => {
  const { readMovements } = internal;
  let hasForked = false;
  const forking: InternalTransfers['readMovements'] = async (...request) => {
    if (!hasForked) model.reorganise(1, () => true);
    hasForked = true;
    return readMovements(...request);
  };
  Object.assign(model.adapter, { internal: { ...internal, readMovements: forking } });
  const id = await ask();
  await tick();
  service.clock.now += MINUTE_MS;
  hidden.set('primary', new Set([send()]));
  model.mine();
  await expect(tick()).rejects.toThrow('left the branch');
  expect(hasForked).toBe(true);
  await pass(2);
  expect(await findings()).toEqual([]);
  expect(await statusOf(id)).toBe('pending/pending');
});

test('dust holds no payment', async () => {
  const id = await ask();
  await tick();
  const dust = [send('A', 3n), send('A', 4n)];
  hidden.set('primary', new Set(dust.slice(1)));
  await passTheEnd();
  expect(await statusOf(id)).toBe('expired/expired');
  expect(await findings()).toEqual([]);
});

test('an earlier finding holds no payment that is opened later', async () => {
  await ask();
  await tick();
  hidden.set('primary', new Set([send()]));
  await pass(3);
  expect(await findings()).toHaveLength(1);
  const later = await ask('A', 8_000n);
  await passTheEnd();
  expect(await statusOf(later)).toBe('expired/expired');
});

test('no payment expires before the blocks up to its end have been looked at twice', async () => {
  const id = await ask();
  await tick();
  const end = service.clock.now + 15 * MINUTE_MS;
  service.clock.now += 14 * MINUTE_MS;
  let expired = false;
  while (!expired) {
    service.clock.now += 5_000;
    model.mine([]);
    await tick();
    await expirePayments(service.db, now(), 100);
    expired = (await statusOf(id)) === 'expired/expired';
    const state = await findChain(service.db, CHAIN);
    const swept = model.blocks[state?.swept_height ?? 0]?.time.getTime() ?? 0;
    expect(state?.expires_until?.getTime()).toBeLessThanOrEqual(swept);
    expect(service.clock.now - swept).toBeGreaterThanOrEqual(chainOf(CHAIN).secondLookAfterMs);
    // For the offer of the network, one look at a block suffices.
    expect(state?.watched_until?.getTime()).toBe(model.tip.time.getTime());
  }
  const late = service.clock.now - end;
  expect(late).toBeGreaterThanOrEqual(chainOf(CHAIN).secondLookAfterMs - 3_000);
  expect(late).toBeLessThan(2 * MINUTE_MS);
});
