import { describe, expect, test } from 'vitest';
import { createBitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import { scriptOf } from '#chains/bitcoin/script.ts';
import { type Node, NodeFailure, ResponseTooLarge, RpcError } from '#chains/nodes/node.ts';
import { doubleHash, reversed, serialize } from './serialize.ts';
import { ELSEWHERE, watch } from './spend.ts';

const NOW = new Date('2026-07-01T12:00:00Z');
const HOUR_MS = 3_600_000;

/** A transaction that pays `number` satoshi from a confirmed one or from `parent`, and its ID. */
function payment(number: number, parent = '01'.repeat(32)): readonly [string, string] {
  const draft = {
    version: 2,
    inputs: [
      {
        hash: Buffer.from(parent, 'hex').reverse(),
        index: number,
        script: new Uint8Array(),
        witness: [],
      },
    ],
    outputs: [{ value: BigInt(number), script: Buffer.from(scriptOf(ELSEWHERE), 'hex') }],
    lockTime: 0,
  };
  return [reversed(doubleHash(serialize(draft))), serialize(draft).toString('hex')];
}

/** A node with only a mempool, whose transactions came an hour apart. */
function openNode(
  id: string,
  payments: ReadonlyMap<string, string>,
  role: 'primary' | 'check' = 'primary',
) {
  const asked: string[] = [];
  let timed = 0;
  const node: Node & { refuse?: Error } = {
    id,
    label: id,
    role,
    abilities: { trace: null, logRange: null, batch: 100, archive: true, pruneHeight: null },
    async call(method, [verbose]) {
      if (method !== 'getrawmempool' || !verbose) throw new Error(method);
      timed += 1;
      if (node.refuse) throw node.refuse;
      const all = [...payments.keys()];
      const at = (age: number) => NOW.getTime() / 1_000 - (all.length - age) * 3_600;
      return Object.fromEntries(all.map((key, index) => [key, { time: at(index) }]));
    },
    async batch(calls) {
      return calls.map(({ method, params }) => {
        if (method === 'getblockheader') return { ...HEADER, hash: HEADER.hash };
        if (method === 'getrawmempool') return [...payments.keys()];
        if (method !== 'getrawtransaction') return { chain: 'regtest', bestblockhash: HEADER.hash };
        asked.push(String(params[0]));
        return payments.get(String(params[0])) ?? new RpcError(-5, 'No such transaction');
      });
    },
    post: () => Promise.reject(new Error('not asked')),
  };
  return { node, asked, timed: () => timed };
}

const HEADER = {
  hash: 'ab'.repeat(32),
  previousblockhash: 'cd'.repeat(32),
  height: 7,
  time: 1_700_000_000,
  confirmations: 1,
};

const payments = (from: number, to: number) =>
  new Map(Array.from({ length: to - from + 1 }, (_, index) => payment(from + index)));

const WATCH = watch(ELSEWHERE);

describe('a mempool that was full before', () => {
  test('is read in parts, newest arrivals first', async () => {
    const list = payments(1, 60);
    const { node, asked } = openNode('one', list);
    const adapter = createBitcoinAdapter({ workMs: 0 });
    await adapter.readHeads(node, null, true);
    const first = await adapter.readMempool?.(node, WATCH);
    expect(first).toMatchObject({ complete: false });
    expect(first?.transfers).toHaveLength(25);
    first?.recorded();

    const [late, hex] = payment(1_000);
    list.set(late, hex);
    await adapter.readHeads(node, null, true);
    const second = await adapter.readMempool?.(node, WATCH);
    expect(second?.transfers.map(each => each.transactionHash)).toEqual([late]);
    expect(second?.complete).toBe(false);
    second?.recorded();

    const third = await adapter.readMempool?.(node, WATCH);
    expect(third?.complete).toBe(false);
    const fourth = await adapter.readMempool?.(node, WATCH);
    expect(fourth?.complete).toBe(true);
    // The third reading was not recorded.
    expect(fourth?.transfers).toHaveLength(35);
    expect(asked).toHaveLength(61);
    expect(new Set(asked).size).toBe(61);
  });

  test('is read at once as long as there is time', async () => {
    const { node } = openNode('one', payments(1, 60));
    const adapter = createBitcoinAdapter({ workMs: 1, elapsed: () => 0 });
    await adapter.readHeads(node, null, true);
    const reading = await adapter.readMempool?.(node, WATCH);
    expect(reading).toMatchObject({ complete: true });
    expect(reading?.transfers).toHaveLength(60);
  });

  test('is not complete while its list is too long to read', async () => {
    const { node, asked } = openNode('one', payments(1, 60));
    const adapter = createBitcoinAdapter();
    const tooLong: Node = {
      ...node,
      batch: async calls =>
        (await node.batch(calls)).map((answer, index) =>
          calls[index]?.method === 'getrawmempool' && calls[index].mayBeTooLarge === true
            ? new ResponseTooLarge('an answer of more than 16 MiB')
            : answer,
        ),
    };
    await adapter.readHeads(tooLong, null, true);
    const unlisted = { complete: false, more: false, transfers: [] };
    expect(await adapter.readMempool?.(tooLong, WATCH)).toMatchObject(unlisted);
    expect(asked).toEqual([]);
    await adapter.readHeads(node, null, true);
    const reading = await adapter.readMempool?.(node, WATCH);
    expect(reading).toMatchObject({ complete: true, more: false });
    expect(reading?.transfers).toHaveLength(60);
  });

  test('is read again for ancestors that the node listed but did not have yet', async () => {
    const [parent, hex] = payment(1);
    const [child, childHex] = payment(2, parent);
    const list = new Map([
      [parent, ''],
      [child, childHex],
    ]);
    const { node } = openNode('one', list);
    const behind: Node = {
      ...node,
      batch: async calls =>
        (await node.batch(calls)).map(each => (each === '' ? new RpcError(-5, 'No such') : each)),
    };
    const adapter = createBitcoinAdapter();
    const read = async () => {
      await adapter.readHeads(behind, null, true);
      const reading = await adapter.readMempool?.(behind, WATCH);
      reading?.recorded();
      return reading?.transfers.map(({ transactionHash, ancestry }) => [transactionHash, ancestry]);
    };
    expect(await read()).toEqual([[child, undefined]]);
    expect(adapter.isInMempool?.(child)).toBe(true);
    list.set(parent, hex);
    expect(await read()).toEqual([
      [child, [`${'01'.repeat(32)}:1`]],
      [parent, undefined],
    ]);
    expect(await read()).toEqual([]);
  });

  test('is not read while nothing is watched', async () => {
    const { node, asked } = openNode('one', payments(1, 60));
    const adapter = createBitcoinAdapter();
    await adapter.readHeads(node, null, true);
    expect(await adapter.readMempool?.(node, [])).toMatchObject({ complete: true, transfers: [] });
    expect(await adapter.readMempool?.(node, WATCH)).toMatchObject({ transfers: [] });
    expect(asked).toEqual([]);
  });

  test('is read from a given time on, with all times in one response', async () => {
    const { node, asked, timed } = openNode('one', payments(1, 1_100));
    const adapter = createBitcoinAdapter();
    await adapter.readHeads(node, null, true);
    // What came in the nine hours before the newest, and within some minutes before.
    const reading = await adapter.readMempool?.(node, WATCH, 9 * HOUR_MS);
    expect(reading?.complete).toBe(true);
    expect(asked).toEqual([...payments(1_091, 1_100).keys()]);
    expect(timed()).toBe(1);
  });

  test.each([
    new RpcError(-32_601, 'Method not found'),
    new NodeFailure('one: an answer of 70 MiB'),
  ])('is requested in full if the times are refused: $message', async refusal => {
    const { node, asked, timed } = openNode('one', payments(1, 1_100));
    node.refuse = refusal;
    const adapter = createBitcoinAdapter({ workMs: 0 });
    await adapter.readHeads(node, null, true);
    expect(adapter.mustListMempool?.()).toBe(false);
    for (const withinMs of [0, null]) {
      const reading = await adapter.readMempool?.(node, WATCH, withinMs);
      expect(reading?.complete).toBe(false);
    }
    expect(asked).toHaveLength(50);
    expect(timed()).toBe(1);
    expect(adapter.mustListMempool?.()).toBe(true);
  });

  test('has to be listed all the time while it is too long for a response with all times', async () => {
    const { node } = openNode('one', payments(1, 1));
    const adapter = createBitcoinAdapter();
    const ids = Array.from({ length: 25_001 }, (_, index) => index.toString(16).padStart(64, '0'));
    const withList = (list: readonly string[]): Node => ({
      ...node,
      batch: async calls =>
        (await node.batch(calls)).map((answer, index) =>
          calls[index]?.method === 'getrawmempool' ? list : answer,
        ),
    });
    await adapter.readHeads(withList(ids), null, true);
    expect(adapter.mustListMempool?.()).toBe(true);
    await adapter.readHeads(withList(ids.slice(1)), null, true);
    expect(adapter.mustListMempool?.()).toBe(false);
  });

  test('of another chain, which the node served before, does not matter', async () => {
    const [id = ''] = payments(1, 1).keys();
    const { node } = openNode('one', payments(1, 1));
    const adapter = createBitcoinAdapter();
    node.refuse = new RpcError(-32_601, 'Method not found');
    await adapter.readHeads(node, null, true);
    await adapter.readMempool?.(node, WATCH, 0);
    expect(adapter.mustListMempool?.()).toBe(true);
    const elsewhere: Node = {
      ...node,
      batch: async calls =>
        (await node.batch(calls)).map((answer, index) => {
          if (calls[index]?.method === 'getrawmempool') return [];
          return calls[index]?.method === 'getblockchaininfo'
            ? { chain: 'signet', bestblockhash: HEADER.hash }
            : answer;
        }),
    };
    await adapter.readHeads(elsewhere, null, true);
    expect(adapter.mustListMempool?.()).toBe(false);
    expect(adapter.isInMempool?.(id)).toBe(false);
  });

  test('is read from a given time on after a while without lists, too', async () => {
    const list = payments(1, 30);
    const { node, asked, timed } = openNode('one', list);
    const adapter = createBitcoinAdapter();
    await adapter.readHeads(node, null, true);
    (await adapter.readMempool?.(node, WATCH))?.recorded();
    asked.length = 0;
    await adapter.readHeads(node, null);
    for (const [id, hex] of payments(31, 60)) list.set(id, hex);
    await adapter.readHeads(node, null, true);
    const reading = await adapter.readMempool?.(node, WATCH, 9 * HOUR_MS);
    const first = NOW.getTime() - 10 * HOUR_MS;
    expect(asked).toEqual([...payments(51, 60).keys()]);
    expect(reading?.transfers.map(({ enteredAt }) => enteredAt)).toEqual(
      Array.from({ length: 10 }, (_, index) => new Date(first + index * HOUR_MS)),
    );
    expect(timed()).toBe(1);
  });

  test('is requested from another node only as far as the first one did not have it', async () => {
    const one = openNode('one', payments(1, 30));
    const other = openNode('other', payments(11, 40));
    const adapter = createBitcoinAdapter();
    await adapter.readHeads(one.node, null, true);
    (await adapter.readMempool?.(one.node, WATCH))?.recorded();
    await adapter.readHeads(other.node, null, true);
    const reading = await adapter.readMempool?.(other.node, WATCH);
    expect(reading?.transfers.map(each => each.tokenAmount)).toEqual(
      Array.from({ length: 10 }, (_, index) => BigInt(31 + index)),
    );
    expect(other.asked).toHaveLength(10);
  });

  test('is that of the node whose list is requested, and of no other', async () => {
    const [id = ''] = payments(1, 1).keys();
    const primary = openNode('primary', payments(1, 1));
    const check = openNode('check', payments(2, 3), 'check');
    const adapter = createBitcoinAdapter();
    expect(adapter.isInMempool?.(id)).toBe(false);
    for (let count = 0; count < 2; count += 1) {
      await adapter.readHeads(primary.node, null, true);
      (await adapter.readMempool?.(primary.node, WATCH))?.recorded();
      await adapter.readHeads(check.node, null);
      expect(adapter.isInMempool?.(id)).toBe(true);
    }
    expect(primary.asked).toEqual([id]);
  });

  test('is refused if it was not listed, or a transaction differs', async () => {
    const list = payments(1, 1);
    const { node } = openNode('one', list);
    const adapter = createBitcoinAdapter();
    await expect(adapter.readMempool?.(node, WATCH)).rejects.toThrow('one: the mempool was not');
    await adapter.readHeads(node, null, true);
    for (const id of list.keys()) list.set(id, payment(2)[1]);
    await expect(adapter.readMempool?.(node, WATCH)).rejects.toThrow(NodeFailure);
  });
});
