import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ChainId, chainOf } from '#chains/chain-list.ts';
import type { BalanceQuery } from '#chains/internal-transfers.ts';
import type { Look } from '#chains/nodes/daily-quota.ts';
import { type Node, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import { newId } from '#crypto/new-id.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { createLease, LeaseLost } from '#onchain/watching/lease.ts';
import { IDLE_POLL_MS } from '#onchain/watching/loop/idle-watch.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { addFinding, listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { listBalances, putBalances } from '#storage/repositories/chains/held-balances.ts';
import { addRescan, findOpenRescan } from '#storage/repositories/chains/rescans.ts';
import { hasExpiringPayment } from '#storage/repositories/chains/watch-list.ts';
import { releaseReservation } from '#storage/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPaymentAt } from '../../../helpers/open-payment.ts';
import { stateOfPayment } from '../../../helpers/payments.ts';
import { ModelChain } from '../model-chain.ts';
import {
  beginModel,
  createModelWatcher,
  FINAL_DEPTH,
  Killed,
  lapseLease,
  type ModelWatcher,
} from '../model-watcher.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const AMOUNT = 5_000n;
const ADDRESS = 'A';

let service: TestApp;
let merchant: Merchant;
let model: ModelChain;
let watcher: ModelWatcher;
let chain: ChainId;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(() => begin('eth-test'));
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

async function begin(id: ChainId): Promise<void> {
  chain = id;
  ({ model, watcher } = await beginModel(service, chain));
}

/** A payment of this amount at the address, open for a quarter of an hour. */
async function ask(amount = AMOUNT, address = ADDRESS): Promise<string> {
  const slot = { blockchainId: chain, address, tokenAmount: amount };
  const expires_at = new Date(service.clock.now + 15 * MINUTE_MS);
  return (await addPaymentAt(service, merchant, slot, { expires_at })).id;
}

const send = (tokenAmount = AMOUNT, address = ADDRESS) =>
  model.send({ blockchainId: chain, address, tokenAmount });

/** Mines the pool, and empty blocks above it. */
function mine(empty = 0): void {
  service.clock.now += 1_000;
  model.mine();
  for (let mined = 0; mined < empty; mined++) model.mine([]);
}

async function tick(): Promise<string> {
  service.clock.now += 6_000;
  for (;;) {
    const result = await watcher.tick();
    if (result !== 'more') return result;
  }
}

/** The second look at the scanned blocks, some time after the first. */
async function lookAgain(): Promise<void> {
  service.clock.now += chainOf(chain).secondLookAfterMs;
  await tick();
}

const statusOf = (id: string) => stateOfPayment(service.db, id);
const deposits = (): Promise<Deposit[]> =>
  service.db.selectFrom('deposits').selectAll().orderBy('observed_at').execute();
const findings = () => listOpenFindings(service.db, 100);

test('a transfer is seen in its block, and final with it', async () => {
  const id = await ask();
  await tick();
  const { hash } = send();
  mine();
  await tick();
  expect(await statusOf(id)).toBe('pending/completed');
  const seen = { transaction_hash: hash, state: 'seen', block_hash: model.tip.hash };
  expect(await deposits()).toMatchObject([{ ...seen, source: 'chain', occurred_at: now() }]);
  mine(FINAL_DEPTH);
  await tick();
  expect(await statusOf(id)).toBe('successful/completed');
});

test('a payment opened before the chain had a node is found all the same', async () => {
  const id = await ask();
  send();
  mine(FINAL_DEPTH);
  service.clock.now += 10 * MINUTE_MS;
  model.mine([]);
  await tick();
  expect(await statusOf(id)).toBe('successful/completed');
});

test('a chain with nothing to watch is polled twice a minute', async () => {
  let calls = 0;
  const count = () => void calls++;
  await tick();
  for (let second = 0; second < 120; second += 6) {
    service.clock.now += 6_000;
    model.mine([]);
    await watcher.tick(() => {
      if (new Error().stack?.includes('readHeads') === true) count();
    });
  }
  const state = await findChain(service.db, chain);
  expect(state?.watched_until?.getTime()).toBeGreaterThan(service.clock.now - MINUTE_MS);
  expect(state?.cursor_height).toBeGreaterThan(25);
  expect(calls).toBeLessThanOrEqual(5);
});

describe('a daily quota', () => {
  let mayLook: boolean;
  let looks: Look[];
  let asked: number;
  beforeEach(() => {
    mayLook = true;
    looks = [];
    asked = 0;
    watcher.mayLook = look => {
      looks.push(look);
      return mayLook;
    };
    const { readHeads } = model.adapter;
    Object.assign(model.adapter, {
      readHeads: (...args: Parameters<typeof readHeads>) => {
        asked += 1;
        return readHeads(...args);
      },
    });
  });

  test('defers looks, and is told their purpose', async () => {
    service.clock.now += MINUTE_MS;
    await tick();
    const id = await ask();
    await tick();
    await releaseReservation(service.db, id, now());
    await tick();
    expect(looks.map(({ kind }) => kind)).toEqual(['idle', 'open', 'late']);
    const { pauseMs, offeredLagMs } = chainOf(chain);
    for (const { kind, ownMs, longestMs } of looks) {
      expect(ownMs).toBe(kind === 'idle' ? IDLE_POLL_MS : pauseMs);
      expect(longestMs).toBeLessThan(offeredLagMs);
    }
    mayLook = false;
    asked = 0;
    expect(await tick()).toBe('nothing');
    expect(asked).toBe(0);
  });

  test('defers payments and loses none, and none ends before the chain was searched for it', async () => {
    const id = await ask();
    await tick();
    send();
    mine(1);
    mayLook = false;
    service.clock.now += 30 * MINUTE_MS;
    await tick();
    await expirePayments(service.db, now(), 100);
    expect(await statusOf(id)).toBe('pending/pending');
    mayLook = true;
    mine(FINAL_DEPTH);
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
  });

  test('interrupts neither work that continues at once, nor a retry after a node failed', async () => {
    await ask();
    await tick();
    watcher.up = false;
    await expect(tick()).rejects.toThrow(NodeFailure);
    watcher.up = true;
    mayLook = false;
    expect(await tick()).toBe('done');
    expect(await tick()).toBe('nothing');

    const range = { blockchainId: chain, from: 1, to: 15, askedBy: 'test' };
    await addRescan(service.db, range, now());
    watcher.mayLook = () => asked === 0;
    asked = 0;
    expect(await tick()).toBe('done');
    expect(asked).toBeGreaterThan(1);
    expect(await findOpenRescan(service.db, chain)).toBeUndefined();
  });
});

describe('the mempool', () => {
  beforeEach(() => begin('btc-test'));

  /** How often this many looks, a minute apart, list the mempool. */
  async function listsOf(looks: number): Promise<number> {
    const before = model.lists;
    for (let look = 0; look < looks; look++) {
      service.clock.now += MINUTE_MS;
      await tick();
    }
    return model.lists - before;
  }

  async function cancel(id: string): Promise<void> {
    await updateOpenPayment(service.db, id, { status: 'cancelled', session_status: 'cancelled' });
    await releaseReservation(service.db, id, now());
  }

  test('is listed once after a start, and then only while a payment is open', async () => {
    expect(await listsOf(3)).toBe(1);
    expect(await listsOf(10)).toBe(0);
    const id = await ask();
    expect(await listsOf(10)).toBe(10);
    await cancel(id);
    expect(await listsOf(10)).toBe(0);
    expect((await findChain(service.db, chain))?.watched_until).toEqual(now());
  });

  test('is listed as long as a deposit waits for a block, and never counts that deposit as gone', async () => {
    const id = await ask();
    await tick();
    send();
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
    await releaseReservation(service.db, id, now());
    expect(await listsOf(5)).toBe(5);
    expect(await deposits()).toMatchObject([{ state: 'seen', block_hash: null }]);
    mine(3);
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
    expect(await listsOf(5)).toBe(0);
  });

  test('shows a transfer that came after a payment was opened, but before the first look at that', async () => {
    await listsOf(3);
    const id = await ask();
    service.clock.now += 8_000;
    send();
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
  });

  test.each(['in the mempool', 'in its block'])(
    'does not give to a payment, %s, what waited before it was opened',
    async place => {
      const former = await ask();
      await tick();
      await cancel(former);
      expect(await listsOf(2)).toBe(0);
      send();
      expect(await listsOf(15)).toBe(0);
      const id = await ask();
      await listsOf(2);
      if (place === 'in its block') {
        mine(3);
        await tick();
        expect(await deposits()).toMatchObject([{ outcome: 'late', payment_id: null }]);
      } else {
        expect(await deposits()).toEqual([]);
      }
      expect(await statusOf(id)).toBe('pending/pending');
      const own = send(AMOUNT);
      await tick();
      expect(await statusOf(id)).toBe('pending/completed');
      expect(own.hash).toBe((await findPayment(service.db, id))?.transaction_hash);
    },
  );

  test('is reported again if it could not be recorded', async () => {
    await tick();
    const id = await ask();
    send();
    const dying = watcher.tick(() => {
      if (/recordSeen.*mempool\.ts/s.test(new Error().stack ?? '')) throw new Killed();
    });
    await expect(dying).rejects.toThrow(Killed);
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
  });

  test('is listed at once when a payment is opened while the node responds', async () => {
    await listsOf(3);
    const { readHeads } = model.adapter;
    let id = '';
    Object.assign(model.adapter, {
      readHeads: async (...args: Parameters<typeof readHeads>) => {
        Object.assign(model.adapter, { readHeads });
        const heads = await readHeads(...args);
        id = await ask();
        send();
        return heads;
      },
    });
    service.clock.now += MINUTE_MS;
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
  });
});

describe('a reorganisation', () => {
  test('places a transfer in its new block, and reverses one that is gone', async () => {
    const [kept, gone] = [await ask(), await ask(7_000n, 'B')];
    await tick();
    send();
    const lost = send(7_000n, 'B');
    mine(1);
    await tick();
    expect(await statusOf(kept)).toBe('pending/completed');
    model.reorganise(2, transaction => transaction === lost);
    mine();
    await tick();
    expect(await statusOf(kept)).toBe('pending/completed');
    expect(await statusOf(gone)).toBe('pending/pending');
    expect(await deposits()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ state: 'seen', block_hash: model.tip.hash }),
        expect.objectContaining({ state: 'reversed', block_hash: null, payment_id: null }),
      ]),
    );
    mine(FINAL_DEPTH);
    await tick();
    expect(await statusOf(kept)).toBe('successful/completed');
  });

  test('above the cursor reverses what an interrupted look recorded', async () => {
    const [id, other] = [await ask(), await ask(7_000n, 'B')];
    await tick();
    const [lost, kept] = [send(), send(7_000n, 'B')];
    mine(1);
    // Stops after the transfers are recorded, and before the cursor moves.
    await expect(
      watcher.tick(async () => {
        if ((await deposits()).length > 0) throw new Killed();
      }),
    ).rejects.toThrow(Killed);
    expect(await deposits()).toMatchObject([{ state: 'seen' }, { state: 'seen' }]);
    model.reorganise(2, transaction => transaction === lost);
    mine();
    watcher = createModelWatcher({
      db: service.db,
      clock: service.clock,
      model,
      chain,
      holder: 'b',
    });
    await lapseLease(service.db, chain);
    await tick();
    expect(await statusOf(id)).toBe('pending/pending');
    expect(await statusOf(other)).toBe('pending/completed');
    const places = Object.fromEntries(
      (await deposits()).map(each => [each.transaction_hash, each.block_hash]),
    );
    expect(places).toEqual({ [lost.hash]: null, [kept.hash]: model.tip.hash });
  });

  test('removes every transfer above it from its block at once', async () => {
    await ask();
    await tick();
    send();
    mine();
    await tick();
    const height = model.tip.height;
    expect(await deposits()).toMatchObject([{ block_height: height }]);
    model.reorganise(1, () => true);
    service.clock.now += 6_000;
    expect(await watcher.tick()).toBe('more');
    expect((await findChain(service.db, chain))?.cursor_height).toBe(height - 1);
    expect(await deposits()).toMatchObject([{ state: 'seen', block_height: null }]);
  });

  test('forgets the balances of addresses above it', async () => {
    await ask();
    await tick();
    mine();
    await tick();
    const { height } = model.tip;
    const held = { address: ADDRESS, balance: 1n };
    await putBalances(service.db, chain, [
      { ...held, height },
      { ...held, height: height - 1 },
    ]);
    model.reorganise(1, () => true);
    await tick();
    const [newest] = await listBalances(service.db, chain, [ADDRESS]);
    expect(newest?.height).toBe(height - 1);
  });

  test('has the new branch looked at twice, too', async () => {
    const id = await ask();
    await tick();
    mine();
    await tick();
    await lookAgain();
    expect((await findChain(service.db, chain))?.swept_height).toBe(model.tip.height);
    send();
    const [transaction] = model.pool;
    model.reorganise(1, () => false);
    model.pool = [];
    await tick();
    // The node had responded before it had the whole block.
    Object.assign(model.blocks.at(-2) ?? {}, { transactions: [transaction] });
    await lookAgain();
    expect(await statusOf(id)).toBe('pending/completed');
  });

  test('dates the transfers of the new branch by its blocks, which may be older than the last poll', async () => {
    await ask(7_000n, 'B');
    await tick();
    mine();
    await tick();
    const made = service.clock.now;
    service.clock.now += MINUTE_MS / 2;
    await tick();
    // The payment asks for what a stranger has sent before, on a branch that the node did not show.
    const id = await ask();
    send();
    model.reorganise(1, () => false);
    mine();
    for (const block of model.blocks.slice(-3)) Object.assign(block, { time: new Date(made) });
    await tick();
    expect(await deposits()).toMatchObject([
      { occurred_at: new Date(made + chainOf(chain).clockSkewMs), payment_id: null },
    ]);
    expect(await statusOf(id)).toBe('pending/pending');
  });

  test('below all recorded blocks halts the chain, and writes nothing', async () => {
    const id = await ask();
    await tick();
    model.reorganise(model.blocks.length - 1, () => true);
    for (let mined = 0; mined < 5; mined++) model.mine([]);
    send();
    mine(FINAL_DEPTH);
    expect(await tick()).toBe('halted');
    expect(await tick()).toBe('halted');
    expect((await findChain(service.db, chain))?.halted).toContain('has none of the');
    expect(await deposits()).toEqual([]);
    expect(await statusOf(id)).toBe('pending/pending');
  });

  test('that only one node shows sets that node aside, and halts nothing', async () => {
    const id = await ask();
    await tick();
    const honest = new ModelChain(service.clock, FINAL_DEPTH);
    Object.assign(honest, { blocks: [...model.blocks] });
    watcher.check = honest;
    const recorded = [...model.blocks];
    model.reorganise(model.blocks.length - 1, () => true);
    mine(FINAL_DEPTH);
    await expect(tick()).rejects.toThrow(/none of the recorded blocks, and check has the last one/);
    expect((await findChain(service.db, chain))?.halted).toBeNull();
    expect(watcher.distrusted).toHaveLength(1);
    expect(await findings()).toMatchObject([{ kind: 'node_set_aside', height: null }]);
    model.blocks.splice(0, model.blocks.length, ...recorded);
    send();
    mine(FINAL_DEPTH);
    honest.blocks.push(...model.blocks.slice(honest.blocks.length));
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
    // If the other node does not have the recorded block either, the record is wrong.
    model.reorganise(model.blocks.length - 1, () => true);
    mine(FINAL_DEPTH);
    Object.assign(honest, { blocks: [...model.blocks] });
    expect(await tick()).toBe('halted');
  });

  test('that one of two primary nodes shows halts the chain until both agree, and sets neither aside', async () => {
    const id = await ask();
    await tick();
    const recorded = [...model.blocks];
    const other = new ModelChain(service.clock, FINAL_DEPTH);
    Object.assign(other, { blocks: [...recorded] });
    watcher.second = other;
    model.reorganise(model.blocks.length - 1, () => true);
    mine(FINAL_DEPTH);
    const contradicting = [...model.blocks];
    expect(await tick()).toBe('halted');
    expect(watcher.distrusted).toEqual([]);
    expect((await findChain(service.db, chain))?.halted).toBe(
      `primary has none of the recorded blocks, and second has the last one, ${recorded.length - 1}: nobody knows which of the two is right`,
    );
    expect(await findings()).toMatchObject([
      { kind: 'nodes_contradict', detail: expect.stringContaining('second has the last one') },
    ]);

    // The node that the blocks were recorded from does not continue on its own word: it may have lied.
    model.blocks.splice(0, model.blocks.length, ...recorded);
    other.blocks.splice(0, other.blocks.length, ...contradicting);
    send();
    mine(FINAL_DEPTH);
    service.clock.now += IDLE_POLL_MS;
    expect(await tick()).toBe('halted');
    expect((await findChain(service.db, chain))?.halted).toMatch(/second has another one there/);
    expect(await deposits()).toEqual([]);
    expect(await findings()).toHaveLength(1);

    // It does once the other node agrees, or is removed.
    other.blocks.splice(0, other.blocks.length, ...model.blocks);
    service.clock.now += IDLE_POLL_MS;
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
  });

  test('that undoes a final block is a finding, and the payment stays successful', async () => {
    const [id, other] = [await ask(), await ask(9n, 'B')];
    await tick();
    mine();
    await tick();
    send();
    mine(FINAL_DEPTH);
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
    model.reorganise(FINAL_DEPTH + 1, () => true);
    mine();
    await tick();
    expect(await findings()).toMatchObject([{ kind: 'final_vanished', amount: String(AMOUNT) }]);
    expect(await statusOf(id)).toBe('successful/completed');
    expect(await statusOf(other)).toBe('pending/pending');
  });

  test('is not accepted from a node whose newest block is below the cursor', async () => {
    await ask();
    await tick();
    send();
    mine();
    await tick();
    const hidden = model.blocks.splice(-2);
    expect(await tick()).toBe('nothing');
    model.blocks.push(...hidden);
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'seen', block_hash: model.tip.hash }]);
  });
});

describe('a check node', () => {
  test('that responds wrongly has that counted, both when it confirms and when it scans', async () => {
    const id = await ask();
    await tick();
    send();
    mine();
    await tick();
    const check = Object.assign(new ModelChain(service.clock, FINAL_DEPTH), {
      blocks: model.blocks,
    });
    watcher.check = check;
    const own = { ...check.adapter };
    Object.assign(check.adapter, {
      lookUp: () => Promise.reject(new RpcError(-32_000, 'who knows')),
      scan: () => Promise.reject(new NodeFailure('check: block 7 has the number 8')),
    });
    mine(FINAL_DEPTH);
    await lookAgain();
    expect(watcher.failures.map(({ message }) => message)).toEqual([
      'check: who knows',
      'check: block 7 has the number 8',
    ]);
    expect(watcher.successes).not.toContain('check');
    expect(await statusOf(id)).toBe('pending/completed');
    Object.assign(check.adapter, own);
    mine();
    await lookAgain();
    expect(watcher.failures).toHaveLength(2);
    expect(watcher.successes.filter(label => label === 'check')).toHaveLength(2);
    expect(await statusOf(id)).toBe('successful/completed');
  });

  test('that shows the transfer in another block keeps it from becoming final', async () => {
    const id = await ask();
    await tick();
    watcher.check = new ModelChain(service.clock, FINAL_DEPTH);
    for (let mined = 0; mined < 20; mined++) watcher.check.mine([]);
    send();
    mine(FINAL_DEPTH);
    await tick();
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
    expect(await findings()).toMatchObject([{ kind: 'disagreement' }]);
    watcher.check = model;
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
  });

  test('that has not come as far is waited for', async () => {
    const id = await ask();
    await tick();
    watcher.check = new ModelChain(service.clock, FINAL_DEPTH);
    send();
    mine(FINAL_DEPTH);
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
    expect(await findings()).toEqual([]);
  });
});

test('an error of a node is a node failure, so that another node is asked', async () => {
  await ask();
  const refuse = () => {
    throw new RpcError(-32_000, 'transaction indexing is in progress');
  };
  const failure = new NodeFailure('primary: transaction indexing is in progress');
  await expect(watcher.tick(refuse)).rejects.toThrow(failure);
  expect(watcher.failures).toEqual([failure]);
});

test('the second look makes up for a response that lacked its transfers', async () => {
  const id = await ask();
  await tick();
  send();
  service.clock.now += 1_000;
  const [transaction] = model.pool;
  model.mine([]);
  const block = model.tip;
  await tick();
  // The node had responded before it had the whole block.
  Object.assign(block, { transactions: [transaction] });
  model.pool = [];
  for (let mined = 0; mined <= FINAL_DEPTH; mined++) model.mine([]);
  await lookAgain();
  await tick();
  expect(await statusOf(id)).toBe('successful/completed');
});

test('a worker that takes over has its second look no sooner than the previous one would', async () => {
  const { db, clock } = service;
  const id = await ask();
  await tick();
  send();
  const [transaction] = model.pool;
  model.mine([]);
  model.pool = [];
  const block = model.tip;
  await tick();
  watcher = createModelWatcher({ db, clock, model, chain, holder: 'other' });
  await lapseLease(db, chain);
  await tick();
  Object.assign(block, { transactions: [transaction] });
  await lookAgain();
  expect(await statusOf(id)).toBe('pending/completed');
});

test('a check node that lied for a while leaves no deposit that stays seen forever', async () => {
  await begin('bnb-test');
  const id = await ask();
  await tick();
  const lying = new ModelChain(service.clock, FINAL_DEPTH);
  watcher.check = lying;
  mine(FINAL_DEPTH + 2);
  lying.send({ blockchainId: chain, address: ADDRESS, tokenAmount: AMOUNT });
  lying.mine();
  while (lying.blocks.length < model.blocks.length) lying.mine([]);
  await tick();
  await lookAgain();
  expect(await statusOf(id)).toBe('pending/completed');
  watcher.check = model;
  mine(FINAL_DEPTH);
  await tick();
  await tick();
  expect(await deposits()).toMatchObject([{ state: 'reversed' }]);
  expect(await statusOf(id)).toBe('pending/pending');
});

test('transfers that an interrupted scan left out are not dated earlier than they were made', async () => {
  const first = await ask(7_000n, 'B');
  await tick();
  service.clock.now += 5_000;
  const id = await ask();
  for (let mined = 0; mined < 6; mined++) mine();
  send();
  mine();
  // The worker stops in the middle of the scan.
  const ending = new AbortController();
  let wrote = 0;
  await watcher.tick(() => {
    wrote += 1;
    if (wrote > 3) ending.abort();
  }, ending.signal);
  await tick();
  expect(await statusOf(id)).toBe('pending/completed');
  expect(await statusOf(first)).toBe('pending/pending');
});

describe('while the nodes are away', () => {
  test('nothing expires, and a payment that was paid in time is credited in the end', async () => {
    const [paid, unpaid] = [await ask(), await ask(7_000n, 'B')];
    await tick();
    send();
    mine();
    watcher.up = false;
    service.clock.now += 5 * 60 * MINUTE_MS;
    await expect(tick()).rejects.toThrow('away');
    await expirePayments(service.db, now(), 100);
    expect(await statusOf(paid)).toBe('pending/pending');
    expect(await statusOf(unpaid)).toBe('pending/pending');
    watcher.up = true;
    mine(FINAL_DEPTH);
    await tick();
    expect(await statusOf(paid)).toBe('successful/completed');
    await lookAgain();
    await expirePayments(service.db, now(), 100);
    expect(await statusOf(unpaid)).toBe('expired/expired');
  });

  test('for so long that they have pruned old states, a new address holds up nothing', async () => {
    const before = await ask();
    await tick();
    const read: number[] = [];
    Object.assign(model.adapter, {
      internal: {
        async readBalances(_node: unknown, { height, addresses }: BalanceQuery) {
          if (height < model.tip.height - 100) throw new NodeFailure('missing trie node');
          read.push(height);
          return addresses.map(() => 0n);
        },
        readMovements: async () => [],
        trace: async () => null,
      },
    });
    for (let mined = 0; mined < 150; mined++) {
      service.clock.now += 10_000;
      model.mine([]);
    }
    const joined = await ask(7_000n, 'B');
    send(7_000n, 'B');
    mine();
    await tick();
    await tick();
    expect(await statusOf(joined)).toBe('pending/completed');
    expect(await statusOf(before)).toBe('pending/pending');
    expect(read).not.toEqual([]);
  });

  test('for a week, blocks during which no payment was open are skipped', async () => {
    await tick();
    for (let mined = 0; mined < 200; mined++) {
      service.clock.now += 60 * MINUTE_MS;
      model.mine([]);
    }
    const id = await ask();
    let scans = 0;
    service.clock.now += 6_000;
    send();
    mine();
    while ((await watcher.tick(() => void scans++)) === 'more');
    expect(await statusOf(id)).toBe('pending/completed');
    expect(scans).toBeLessThan(60);
  });
});

test('a holder that wakes up after its lease has expired writes nothing', async () => {
  const { db, clock } = service;
  const id = await ask();
  await tick();
  const other = createModelWatcher({ db, clock, model, chain, holder: 'other' });
  send();
  mine();
  expect(await other.tick()).toBe('elsewhere');
  let steps = 0;
  const paused = watcher.tick(async () => {
    steps += 1;
    if (steps !== 2) return;
    await lapseLease(db, chain);
    while ((await other.tick()) === 'more');
  });
  await expect(paused).rejects.toBeInstanceOf(LeaseLost);
  expect(await watcher.tick()).toBe('elsewhere');
  expect(await statusOf(id)).toBe('pending/completed');
  expect((await findChain(db, chain))?.lease_holder).toBe('other');
});

test('a holder that loses its lease in the middle of a tick makes nothing final', async () => {
  const { db } = service;
  const id = await ask();
  await tick();
  send();
  mine();
  await tick();
  mine(FINAL_DEPTH);
  const { lookUp } = model.adapter;
  Object.assign(model.adapter, {
    lookUp: async (...args: Parameters<typeof lookUp>) => {
      await lapseLease(db, chain);
      expect(await createLease(db, chain, 'other').hold()).toBe(true);
      return lookUp(...args);
    },
  });
  await expect(watcher.tick()).rejects.toBeInstanceOf(LeaseLost);
  expect(await deposits()).toMatchObject([{ state: 'seen' }]);
  expect(await statusOf(id)).toBe('pending/completed');
});

test('a transfer that the database rejects is a finding, holds up no other, and is retried', async () => {
  const { db } = service;
  const [refused, other] = [await ask(), await ask(7_000n, 'B')];
  await tick();
  await sql`
    create function refuse_deposit() returns trigger language plpgsql as $$
    begin raise exception 'refused'; end $$`.execute(db);
  await sql`
    create trigger refusing before insert on deposits for each row
    when (new.address = 'A') execute function refuse_deposit()`.execute(db);
  const { hash } = send();
  send(7_000n, 'B');
  mine();
  await tick();
  expect(await statusOf(other)).toBe('pending/completed');
  expect(await findings()).toMatchObject([
    { kind: 'unapplied', transaction_hash: hash, address: ADDRESS, detail: 'refused' },
  ]);
  await sql`drop function refuse_deposit cascade`.execute(db);
  service.clock.now += MINUTE_MS;
  await sql`
    insert into deposit_addresses (branch_id, blockchain_id, address, updated_at)
    select id, ${chain}, ${ADDRESS}, now() from branches where merchant_id = ${merchant.id}`.execute(
    db,
  );
  await tick();
  expect(await statusOf(refused)).toBe('pending/completed');
  expect(await findings()).toEqual([]);
});

test('a rescan finds a transfer to an address that was not watched', async () => {
  await tick();
  const height = model.tip.height + 1;
  for (let mined = 0; mined < 10; mined++) model.mine([]);
  send(123n, 'C');
  mine(FINAL_DEPTH);
  service.clock.now += 2 * MINUTE_MS;
  await tick();
  expect(await deposits()).toEqual([]);
  await sql`
    insert into deposit_addresses (branch_id, blockchain_id, address, updated_at)
    select id, ${chain}, 'C', now() from branches where merchant_id = ${merchant.id}`.execute(
    service.db,
  );
  const range = { blockchainId: chain, from: height, to: height + 10, askedBy: 'test' };
  await addRescan(service.db, range, now());
  service.clock.now += MINUTE_MS;
  await tick();
  expect(await findOpenRescan(service.db, chain)).toBeUndefined();
  await tick();
  expect(await deposits()).toMatchObject([{ address: 'C', outcome: 'unknown', state: 'final' }]);
});

test('a rescan matches by what was asked for when its blocks were made', async () => {
  const { db } = service;
  await sql`
    insert into deposit_addresses (branch_id, blockchain_id, address, updated_at)
    select id, ${chain}, 'D', now() from branches where merchant_id = ${merchant.id}`.execute(db);
  const early = model.tip.height + 1;
  model.send({ blockchainId: chain, address: 'D', tokenAmount: 1n });
  mine();
  service.clock.now += 4 * DAY_MS;
  const id = await ask(AMOUNT, 'D');
  await sql`update reservations set released_at = ${now()} where payment_id = ${id}`.execute(db);
  model.send({ blockchainId: chain, address: 'D', tokenAmount: 2n });
  mine();
  for (const height of [early, model.tip.height]) {
    const range = { blockchainId: chain, from: height, to: height, askedBy: 'test' };
    await addRescan(db, range, now());
    service.clock.now += MINUTE_MS;
    await tick();
  }
  expect(await findOpenRescan(db, chain)).toBeUndefined();
  expect((await deposits()).map(each => each.token_amount)).toEqual(['1']);
});

test('a rescan of blocks that the node no longer has holds up nothing else', async () => {
  const [paid, unpaid] = [await ask(), await ask(7_000n, 'B')];
  await tick();
  const scan = model.adapter.scan;
  Object.assign(model.adapter, {
    scan: async (...args: Parameters<typeof scan>) => {
      if (args[1].from < 10) throw new NodeFailure('primary: block 5 is pruned');
      return scan(...args);
    },
  });
  const range = { blockchainId: chain, from: 5, to: 6, askedBy: 'test' };
  await addRescan(service.db, range, now());
  send();
  mine(FINAL_DEPTH);
  await tick();
  service.clock.now += 20 * MINUTE_MS;
  mine();
  await tick();
  await lookAgain();
  await expirePayments(service.db, now(), 100);
  expect(await statusOf(paid)).toBe('successful/completed');
  expect(await statusOf(unpaid)).toBe('expired/expired');
  Object.assign(model.adapter, { scan });
  service.clock.now += MINUTE_MS;
  mine();
  await tick();
  await tick();
  expect(await findOpenRescan(service.db, chain)).toBeUndefined();
});

test('a rejected transfer that the node cannot look up holds up nothing else', async () => {
  const { db } = service;
  const unpaid = await ask(7_000n, 'B');
  await tick();
  const finding = { chain, kind: 'unapplied', blockchainId: chain, transactionHash: 'spent' };
  await addFinding(db, { id: newId(), ...finding, position: 0, detail: 'refused' }, now());
  Object.assign(model.adapter, {
    async lookUp() {
      throw new NodeFailure('primary cannot tell whether it is in a block without txindex=1');
    },
  });
  service.clock.now += 20 * MINUTE_MS;
  mine();
  await tick();
  await lookAgain();
  await expirePayments(db, now(), 100);
  expect(await statusOf(unpaid)).toBe('expired/expired');
  expect(await findings()).toHaveLength(1);
});

test('balances are compared before a quote lapses, as before a payment expires', async () => {
  await begin('avax-test');
  const id = await ask();
  const before = new Date(service.clock.now + MINUTE_MS);
  expect(await hasExpiringPayment(service.db, chain, before)).toBe(false);
  await updateOpenPayment(service.db, id, { quoted_until: now() });
  expect(await hasExpiringPayment(service.db, chain, before)).toBe(true);
});

describe('on Bitcoin', () => {
  beforeEach(() => begin('btc-test'));

  test('a transfer that entered the mempool in time counts, although the nodes were away', async () => {
    const id = await ask();
    await tick();
    service.clock.now += 5 * MINUTE_MS;
    watcher.up = false;
    send();
    await expect(tick()).rejects.toThrow('away');
    service.clock.now += 30 * MINUTE_MS;
    watcher.up = true;
    await tick();
    await expirePayments(service.db, now(), 100);
    expect(await statusOf(id)).toBe('pending/completed');
  });

  test('a transfer is final with as many blocks as the rule says, its own included', async () => {
    const id = await ask();
    await tick();
    send();
    for (const confirmations of [1, 2, 3]) {
      mine();
      await tick();
      const isFinal = confirmations === 3;
      expect(await statusOf(id)).toBe(`${isFinal ? 'successful' : 'pending'}/completed`);
    }
  });

  test("nothing expires while the mempool's list is too long, and blocks are still scanned", async () => {
    const [paid, unpaid] = [await ask(), await ask(7_000n, 'B')];
    await tick();
    const readMempool = model.adapter.readMempool;
    const reading = { transfers: [], complete: false, more: false, recorded: () => undefined };
    Object.assign(model.adapter, { readMempool: async () => reading });
    send();
    mine(2);
    service.clock.now += 20 * MINUTE_MS;
    // The list is not requested again at once.
    expect(await tick()).toBe('done');
    await expirePayments(service.db, now(), 100);
    expect(await statusOf(paid)).toBe('successful/completed');
    expect(await statusOf(unpaid)).toBe('pending/pending');
    Object.assign(model.adapter, { readMempool });
    await tick();
    await expirePayments(service.db, now(), 100);
    expect(await statusOf(unpaid)).toBe('expired/expired');
  });

  /** Makes the node unable to say why a transaction is gone. */
  function forgetReplacements(): void {
    const { lookUp } = model.adapter;
    Object.assign(model.adapter, {
      lookUp: async (...args: Parameters<typeof lookUp>) => {
        const report = await lookUp(...args);
        return report.status === 'replaced' ? { status: 'unknown' } : report;
      },
    });
  }

  /** Another worker that has just started takes over. */
  async function restart(holder: string): Promise<void> {
    const { db, clock } = service;
    await lapseLease(db, chain);
    watcher = createModelWatcher({ db, clock, model, chain, holder });
  }

  test('a transfer that is nowhere is gone after two hours, whatever restarts meanwhile', async () => {
    const { clock } = service;
    forgetReplacements();
    const id = await ask();
    await tick();
    send();
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
    const { pool } = model;
    model.pool = [];
    await tick();
    clock.now += 110 * MINUTE_MS;
    await tick();
    // It is back for a moment, so the two hours start again.
    model.pool = pool;
    await tick();
    model.pool = [];
    await tick();
    for (const holder of ['b', 'c']) {
      clock.now += 58 * MINUTE_MS;
      await restart(holder);
      await tick();
      expect(await deposits()).toMatchObject([{ state: 'seen' }]);
    }
    clock.now += 5 * MINUTE_MS;
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'reversed' }]);
  });

  test('the two hours start again once it was in a block, even if that is undone', async () => {
    const { clock } = service;
    forgetReplacements();
    const id = await ask();
    await tick();
    const sent = send();
    await tick();
    model.pool = [];
    await tick();
    clock.now += 110 * MINUTE_MS;
    model.mine([sent]);
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'seen', block_hash: model.tip.hash }]);
    clock.now += 20 * MINUTE_MS;
    model.reorganise(1, () => true);
    await tick();
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'seen', block_hash: null }]);
    expect(await statusOf(id)).toBe('pending/completed');
    clock.now += 2 * 60 * MINUTE_MS;
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'reversed' }]);
  });

  test('a block with a conflicting transaction reverses a transfer at once, whichever worker scans it', async () => {
    forgetReplacements();
    const [undone, kept] = [await ask(), await ask(7_000n, 'B')];
    await tick();
    const sent = send();
    send(7_000n, 'B');
    await tick();
    const { pool } = model;
    model.pool = pool.filter(each => each !== sent);
    await tick();
    expect(await statusOf(undone)).toBe('pending/completed');
    await restart('b');
    model.mine([model.sendAs({ transfers: [], undoes: [sent.hash] })]);
    await tick();
    expect(await statusOf(undone)).toBe('pending/pending');
    expect(await statusOf(kept)).toBe('pending/completed');
    const states = (await deposits()).map(each => [each.transaction_hash, each.state]);
    expect(Object.fromEntries(states)).toMatchObject({ [sent.hash]: 'reversed' });
  });

  test('a block that replaces a recorded but unfinished one does so, too', async () => {
    forgetReplacements();
    const id = await ask();
    await tick();
    const sent = send();
    mine(1);
    await expect(
      watcher.tick(async () => {
        if ((await deposits()).length > 0) throw new Killed();
      }),
    ).rejects.toThrow(Killed);
    expect(await deposits()).toMatchObject([{ state: 'seen', block_hash: expect.any(String) }]);
    model.reorganise(2, () => true);
    model.mine([model.sendAs({ transfers: [], undoes: [sent.hash] })]);
    await restart('b');
    await tick();
    expect(await deposits()).toMatchObject([{ state: 'reversed', payment_id: null }]);
    expect(await statusOf(id)).toBe('pending/pending');
  });

  test('the outputs that its ancestors spend are kept, even if it was in a block before', async () => {
    await ask();
    await tick();
    const sent = model.sendAs({
      transfers: [{ blockchainId: chain, address: ADDRESS, tokenAmount: AMOUNT }],
      ancestry: ['parent:0', 'parent:1'],
    });
    mine();
    await tick();
    expect(await deposits()).toMatchObject([{ ancestry: null }]);
    model.reorganise(1, () => false);
    await tick();
    await tick();
    expect(model.pool).toEqual([sent]);
    const [{ ancestry } = { ancestry: null }] = await deposits();
    expect(ancestry?.toSorted()).toEqual(['parent:0', 'parent:1']);
  });

  test('a transfer is seen in the mempool, and then replaced by its replacement', async () => {
    const id = await ask();
    await tick();
    const { hash } = send();
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
    expect(await deposits()).toMatchObject([{ transaction_hash: hash, block_height: null }]);
    model.pool = [];
    const replacement = send();
    await tick();
    expect(await statusOf(id)).toBe('pending/completed');
    const [first, second] = await deposits();
    expect(first).toMatchObject({ state: 'reversed', payment_id: null });
    expect(second).toMatchObject({ transaction_hash: replacement.hash, payment_id: id });
    mine(2);
    await tick();
    expect(await statusOf(id)).toBe('successful/completed');
  });
});

test('a block that a node does not have just now does not count as undone', async () => {
  const id = await ask();
  await tick();
  send();
  mine(FINAL_DEPTH);
  await tick();
  expect(await statusOf(id)).toBe('successful/completed');
  const paidIn = model.tip.height - FINAL_DEPTH;
  model.reorganise(3, () => false);
  const { readBlock } = model.adapter;
  Object.assign(model.adapter, {
    readBlock: async (node: Node, height: number) =>
      height === paidIn ? null : readBlock(node, height),
  });
  await expect(tick()).rejects.toThrow(`has no block ${paidIn}`);
  expect(await findings()).toEqual([]);
  Object.assign(model.adapter, { readBlock });
  await tick();
  expect(await findings()).toEqual([]);
});
