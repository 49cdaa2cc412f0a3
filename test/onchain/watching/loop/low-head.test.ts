import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { isWatchedInTime } from '#onchain/settlement/availability.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { findNetworkOnChain } from '#storage/repositories/chains/networks.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import { ModelChain } from '../model-chain.ts';
import {
  beginModel,
  createModelWatcher,
  FINAL_DEPTH,
  lapseLease,
  type ModelWatcher,
} from '../model-watcher.ts';

const CHAIN = 'eth-test';
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const AMOUNT = 5_000n;
/** How long a head below the cursor is taken for a lagging node's. */
const PATIENCE_MS = chainOf(CHAIN).staleHeadMs;

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let watcher: ModelWatcher;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

beforeEach(async () => {
  ({ model, watcher } = await beginModel(service, CHAIN));
});

async function ask(): Promise<string> {
  const slot = { blockchainId: CHAIN, address: 'A', tokenAmount: AMOUNT };
  return (await addPaymentAt(service, merchant, slot)).id;
}

const send = () => model.send({ blockchainId: CHAIN, address: 'A', tokenAmount: AMOUNT });

function mine(blocks = 1): void {
  for (let mined = 0; mined < blocks; mined++) {
    service.clock.now += SECOND_MS;
    model.mine();
  }
}

async function tick(afterMs = 6_000): Promise<string> {
  service.clock.now += afterMs;
  for (;;) {
    const result = await watcher.tick();
    if (result !== 'more') return result;
  }
}

const state = () => findChain(service.db, CHAIN);

async function isOffered(): Promise<boolean> {
  const network = await findNetworkOnChain(service.db, CHAIN);
  return network !== undefined && isWatchedInTime(network, new Date(service.clock.now));
}

const statusOf = (id: string) => stateOfPayment(service.db, id);

/** Puts the cursor at a block of another chain, as if the node's URL had pointed to that for a while. */
async function misplaceCursor(height: number): Promise<void> {
  const { db, clock } = service;
  await sql`
    insert into chain_blocks (chain, height, hash, at)
    values (${CHAIN}, ${height}, 'other', ${new Date(clock.now)})`.execute(db);
  await sql`
    update chains set cursor_height = ${height}, cursor_hash = 'other', swept_height = ${height},
      head_height = ${height}
    where id = ${CHAIN}`.execute(db);
}

describe.each([
  ['while nobody pays', false],
  ['while somebody pays', true],
])('a cursor above the chain, %s,', (_, isPaid) => {
  test.each([60, 9e15])('at %i halts the chain visibly, and goes back by itself', async height => {
    const before = isPaid ? await ask() : undefined;
    await tick();
    mine();
    await tick(30_000);
    expect(await isOffered()).toBe(true);
    await misplaceCursor(height);
    expect(await tick(30_000)).toBe('nothing');
    mine();
    service.clock.now += PATIENCE_MS;
    mine();
    expect(await tick(0)).toBe('halted');
    expect((await state())?.halted).toBe(
      `the newest block of primary is ${model.tip.height}, below ${height}, up to which the chain was read`,
    );
    expect(await isOffered()).toBe(false);

    const id = before ?? (await ask());
    send();
    mine();
    expect(await tick(30_000)).toBe('done');
    expect(await state()).toMatchObject({ halted: null, cursor_height: model.tip.height });
    expect(await isOffered()).toBe(true);
    expect(await statusOf(id)).toBe('pending/completed');
    mine(FINAL_DEPTH);
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
  });
});

test('a lagging node halts the chain as well, undoes nothing, and is still polled', async () => {
  const id = await ask();
  await tick();
  send();
  mine(2);
  await tick();
  expect(await statusOf(id)).toBe('pending/completed');
  const hidden = model.blocks.splice(-2);
  expect(await tick()).toBe('nothing');
  expect(await tick(PATIENCE_MS)).toBe('halted');
  expect(await tick(30_000)).toBe('halted');
  expect(await statusOf(id)).toBe('pending/completed');
  model.blocks.push(...hidden);
  expect(await tick(30_000)).toBe('done');
  expect(await state()).toMatchObject({ halted: null, cursor_height: model.tip.height });
  mine(FINAL_DEPTH);
  await tick();
  expect(await statusOf(id)).toBe('successful/completed');
});

/** A node that shows these blocks. */
function showing(blocks: ModelChain['blocks']): ModelChain {
  return Object.assign(new ModelChain(service.clock, FINAL_DEPTH), { blocks: [...blocks] });
}

const kinds = async () => (await listOpenFindings(service.db, 10)).map(({ kind }) => kind);

test.each(['check', 'second'] as const)(
  'a lagging node is set aside if the %s node has the last recorded block',
  async other => {
    await ask();
    await tick();
    send();
    mine(2);
    await tick();
    const all = [...model.blocks];
    watcher[other] = showing(all);
    model.blocks.splice(-2);
    watcher.successes.length = 0;
    expect(await tick()).toBe('nothing');
    await expect(tick(PATIENCE_MS)).rejects.toBeInstanceOf(NodeFailure);
    const reason = `the newest block of primary, ${model.tip.height}, is below the recorded ones, and ${other} has the last one, ${all.length - 1}`;
    expect(watcher.distrusted).toEqual([reason]);
    expect(await state()).toMatchObject({ halted: null, cursor_height: all.length - 1 });
    expect(await kinds()).toEqual(['node_set_aside']);
    // Another node has scanned on since, and the first one still lags.
    await expect(tick(2 * MINUTE_MS)).rejects.toBeInstanceOf(NodeFailure);
    expect(watcher.successes).toEqual([]);
    model.blocks.push(...all.slice(-2));
    expect(await tick()).toBe('done');
    expect(watcher.successes).toContain('primary');
    // From then on, the watcher waits for it again.
    model.blocks.splice(-2);
    expect(await tick()).toBe('nothing');
  },
);

test('of two primary nodes, one with recorded blocks above the chain does not set the other aside', async () => {
  const id = await ask();
  await tick();
  mine();
  await tick();
  const liar = showing(model.blocks);
  service.clock.now += SECOND_MS;
  for (let height = model.blocks.length; height <= 60; height++) liar.mine([]);
  await misplaceCursor(60);
  await sql`update chains set cursor_hash = ${liar.tip.hash} where id = ${CHAIN}`.execute(
    service.db,
  );
  await sql`update chain_blocks set hash = ${liar.tip.hash} where hash = 'other'`.execute(
    service.db,
  );
  watcher.second = liar;
  expect(await tick(30_000)).toBe('nothing');
  service.clock.now += PATIENCE_MS;
  send();
  mine();
  expect(await tick(0)).toBe('halted');
  expect(watcher.distrusted).toEqual([]);
  expect(await kinds()).toEqual(['nodes_contradict']);
  // The cursor does not go back because of the first node alone, either.
  expect(await tick(30_000)).toBe('halted');
  expect(await state()).toMatchObject({ cursor_height: 60 });
  watcher.second = null;
  expect(await tick(30_000)).toBe('done');
  expect(await statusOf(id)).toBe('pending/completed');
});

test('a node with a low head gets no credit for success', async () => {
  await ask();
  await tick();
  mine();
  expect(await tick()).toBe('done');
  watcher.successes.length = 0;
  model.blocks.splice(-1);
  expect(await tick()).toBe('nothing');
  expect(await tick(PATIENCE_MS)).toBe('halted');
  expect(await tick(30_000)).toBe('halted');
  expect(watcher.successes).toEqual([]);
});

/** Another worker watches the chain for as long as the first would have waited for the node. */
async function watchElsewhere(): Promise<void> {
  const { db, clock } = service;
  await lapseLease(db, CHAIN);
  const other = createModelWatcher({ db, clock, model, chain: CHAIN, holder: 'b' });
  expect(await other.tick()).toBe('nothing');
  clock.now += PATIENCE_MS;
  expect(await watcher.tick()).toBe('elsewhere');
  await lapseLease(db, CHAIN);
}

async function waitAnHour(): Promise<void> {
  service.clock.now += 60 * MINUTE_MS;
}

test.each([
  ['another worker has had the chain', watchElsewhere],
  ['no head was read for an hour', waitAnHour],
])('a node that lags again after %s does not halt the chain at once', async (_, interrupt) => {
  await ask();
  await tick();
  mine();
  await tick();
  model.blocks.splice(-1);
  expect(await tick()).toBe('nothing');
  await interrupt();
  expect(await tick(SECOND_MS)).toBe('nothing');
  expect(await tick(PATIENCE_MS)).toBe('halted');
});

test('a chain that has none of the recorded blocks resumes when the node has them again', async () => {
  const id = await ask();
  await tick();
  const own = [...model.blocks];
  model.reorganise(model.blocks.length - 1, () => true);
  mine(5);
  expect(await tick()).toBe('halted');
  model.blocks.splice(0, model.blocks.length, ...own);
  send();
  mine();
  expect(await tick()).toBe('halted');
  expect(await tick(30_000)).toBe('done');
  expect(await statusOf(id)).toBe('pending/completed');
});

test.each([0, 1, 10])(
  'a final block %i above the newest one comes from another server that is ahead',
  async by => {
    const id = await ask();
    await tick();
    send();
    mine();
    const readHeads = model.adapter.readHeads;
    Object.assign(model.adapter, {
      readHeads: async (...args: Parameters<typeof readHeads>) => ({
        ...(await readHeads(...args)),
        finalHeight: model.tip.height + by,
      }),
    });
    await tick();
    expect(watcher.failures).toEqual([]);
    expect(await state()).toMatchObject({ final_height: model.tip.height });
    expect(await statusOf(id)).toBe('successful/completed');
  },
);

test.each([
  ['is final far above the newest block', () => ({ finalHeight: 9e15 })],
  ['is final 11 blocks above it', () => ({ finalHeight: model.tip.height + 11 })],
  [
    'is made tomorrow',
    () => ({ tip: { ...model.tip, time: new Date(service.clock.now + 24 * 60 * MINUTE_MS) } }),
  ],
  ['is made at no time', () => ({ tip: { ...model.tip, time: new Date(Number.NaN) } })],
])('a head that %s is a failure of the node', async (_, change) => {
  const id = await ask();
  await tick();
  send();
  mine();
  const readHeads = model.adapter.readHeads;
  Object.assign(model.adapter, {
    readHeads: async (...args: Parameters<typeof readHeads>) => ({
      ...(await readHeads(...args)),
      ...change(),
    }),
  });
  await expect(tick()).rejects.toBeInstanceOf(NodeFailure);
  expect(watcher.failures).toHaveLength(1);
  expect(await statusOf(id)).toBe('pending/pending');
  Object.assign(model.adapter, { readHeads });
  await tick();
  expect(await statusOf(id)).toBe('pending/completed');
});
