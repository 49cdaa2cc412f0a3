import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScanRequest } from '#chains/adapter.ts';
import { chainOf } from '#chains/chain-list.ts';
import { createEvmAdapter } from '#chains/evm/adapter.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import { openNode } from '#chains/nodes/open-node.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { ANVIL_MISSING, hasAnvil } from '../../helpers/anvil.ts';
import {
  type Evm,
  type EvmChain,
  RICH,
  someAddress,
  startEvm,
  USDC_TEST,
} from '../../helpers/evm.ts';
import { type NodeProxy, RpcRefusal } from '../../helpers/node-proxy.ts';
import { type PlainNode, plainNode } from '../../helpers/plain-node.ts';
import { inCapitals } from './in-capitals.ts';
import { NATIVE, USDC, watch } from './networks.ts';

describe.skipIf(!hasAnvil)(`anvil (${hasAnvil ? 'a real node' : ANVIL_MISSING})`, () => {
  const create = () => createEvmAdapter(chainOf('eth-test'));
  const adapter = create();
  let chain: EvmChain;
  let evm: Evm;
  let proxy: NodeProxy;
  let payer: string;
  let node: PlainNode;

  beforeAll(async () => {
    chain = await startEvm();
    ({ evm, proxy } = chain);
    await evm.place('token', USDC_TEST);
    payer = await evm.deploy('payer');
    await evm.mint(USDC_TEST, payer, 1_000_000n);
    await evm.mint(USDC_TEST, RICH[0], 1_000_000n);
    await evm.mine();
  });
  beforeEach(() => {
    proxy.alter(null);
    node = plainNode(proxy.url);
  });
  afterAll(() => chain?.stop());

  type Range = Pick<ScanRequest, 'from' | 'to'> & Partial<ScanRequest>;

  /**
   * The first scan; everything below `undoableFrom` is final, 0 unless given.
   * @param by Another adapter, which remembers what it has read.
   */
  const scan = (list: readonly WatchedAddress[], range: Range, by = create()) =>
    by.scan(node, { watch: list, undoableFrom: 0, ...range });

  const FINAL = { undoableFrom: Number.MAX_SAFE_INTEGER };

  describe('transfers of tokens', () => {
    const [a, b, c] = [someAddress(1), someAddress(2), someAddress(3)];
    let height: number;
    let hashes: Record<string, string>;

    beforeAll(async () => {
      const other = await evm.deploy('token');
      await evm.mint(other, RICH[0], 1_000n);
      const approve = 'approve(address,uint256)';
      await evm.call(USDC_TEST, { signature: approve, arguments: [payer, 1_000n] });
      await evm.mine();
      const pay = (signature: string, ...args: (string | bigint)[]) =>
        evm.call(payer, { signature, arguments: [USDC_TEST, ...args] });
      hashes = {
        direct: await evm.transferToken(USDC_TEST, a, 10n),
        twice: await evm.transferToken(USDC_TEST, a, 10n),
        stranger: await evm.transferToken(USDC_TEST, someAddress(9), 11n),
        zero: await evm.transferToken(USDC_TEST, a, 0n),
        other: await evm.transferToken(other, a, 12n),
        lacking: await evm.transferToken(USDC_TEST, a, 13n, RICH[3]),
        contract: await pay('payToken(address,address,uint256)', a, 14n),
        from: await pay('payTokenFrom(address,address,address,uint256)', RICH[0], b, 15n),
        many: await evm.payTokens(payer, USDC_TEST, [
          { to: a, amount: 16n },
          { to: someAddress(9), amount: 17n },
          { to: b, amount: 18n },
          { to: a, amount: 16n },
        ]),
        failed: await pay('payTokenAndFail(address,address,uint256)', a, 19n),
        caught: await pay('payTokenAndCatch(address,address,uint256)', a, 20n),
        fee: await evm.call(USDC_TEST, { signature: 'setFee(uint256)', arguments: [250n] }),
        reduced: await evm.transferToken(USDC_TEST, c, 1_000n),
      };
      await evm.call(USDC_TEST, { signature: 'setFee(uint256)', arguments: [0n] });
      await evm.mine();
      height = await evm.height();
    });

    const expected = () => [
      ['direct', 0, a, 10n],
      ['twice', 0, a, 10n],
      ['contract', 0, a, 14n],
      ['from', 0, b, 15n],
      ['many', 0, a, 16n],
      ['many', 2, b, 18n],
      ['many', 3, a, 16n],
      ['caught', 0, a, 1n],
      // Two and a half per cent stay with the token.
      ['reduced', 0, c, 975n],
    ];

    const nobody = Array.from({ length: 1_000 }, (_, index) => someAddress(1_000 + index));

    test.each([
      { how: 'by the hash of the block', also: [], range: {} },
      { how: 'by range', also: [], range: FINAL },
      { how: 'in whole blocks by hash', also: watch(NATIVE, a), range: {} },
      { how: 'in whole blocks by range', also: watch(NATIVE, a), range: FINAL },
      { how: 'among more addresses than a query names', also: watch(USDC, ...nobody), range: {} },
    ])('are found $how', async ({ also, range }) => {
      const list = [...watch(USDC, a, b, c), ...also];
      const { transfers, through } = await scan(list, { from: height, to: height, ...range });
      expect(through).toEqual(await adapter.readBlock(node, height));
      const told = transfers.map(({ transactionHash, position, address, tokenAmount }) => [
        Object.keys(hashes).find(name => hashes[name] === transactionHash),
        position,
        address,
        tokenAmount,
      ]);
      expect(told.toSorted()).toEqual(expected().toSorted());
      const { hash, time } = through;
      const block = { height, hash, time };
      const shared = { blockchainId: 'eth-usdc-test', inputs: null, maturity: 1, block };
      for (const transfer of transfers) expect(transfer).toMatchObject(shared);
    });

    test.each([{}, FINAL])(
      'are the same from a node that writes digits as capitals',
      async range => {
        const request = { from: height, to: height, ...range };
        const plain = await scan(watch(USDC, a, b, c), request);
        proxy.alter(inCapitals);
        const { transfers, unreadable } = await scan(watch(USDC, a, b, c), request);
        expect(transfers).toEqual(plain.transfers);
        expect(unreadable).toEqual([]);
      },
    );

    test.each([{}, FINAL])('are found if a node has too many for one response', async range => {
      proxy.alter((method, params, result) => {
        const [{ topics = [] }] = params as [{ topics?: unknown[] }];
        if (method !== 'eth_getLogs' || topics.length > 1) return result;
        throw new RpcRefusal(-32_005, 'query returned more than 10000 results');
      });
      const list = watch(USDC, a, b, c, ...nobody);
      for (const also of [[], watch(NATIVE, a)]) {
        const one = { from: height, to: height, ...range };
        const { transfers } = await scan([...list, ...also], one);
        expect(transfers).toHaveLength(expected().length);
      }
    });

    test('are requested once for both looks, awaited ones first, and dust never', async () => {
      const list = watch(USDC, a, b, c);
      const both = create();
      const request: Range = {
        from: height,
        to: height,
        weigh: async arrivals =>
          arrivals.map(({ address, tokenAmount }) =>
            tokenAmount < 14n ? 'dust' : address === b ? 'awaited' : 'other',
          ),
        takeAwaited: async transfers => {
          taken.push(...transfers.map(({ tokenAmount }) => tokenAmount));
          asked.push(receipts());
        },
      };
      const taken: bigint[] = [];
      const asked: number[] = [];
      const receipts = () => node.asked.filter(each => each.endsWith('Receipt')).length;
      const { transfers, dust = [] } = await scan(list, request, both);
      // A payment to several addresses is one transaction.
      expect(taken).toEqual([15n, 16n, 18n, 16n]);
      expect([...asked, receipts()]).toEqual([2, 4]);
      const amounts = expected().map(([, , , amount]) => BigInt(amount ?? 0));
      expect(transfers.map(({ tokenAmount }) => tokenAmount).toSorted()).toEqual(
        amounts.filter(amount => amount >= 14n).toSorted(),
      );
      expect(dust.map(({ tokenAmount }) => tokenAmount)).toEqual([10n, 10n, 0n, 1n]);
      expect(await scan(list, { ...request, ...FINAL }, both)).toMatchObject({ transfers, dust });
      expect(receipts()).toBe(4);
    });

    test('cost the same number of calls for 10,000 addresses as for 100', async () => {
      const many = Array.from({ length: 9_997 }, (_, index) => someAddress(10_000 + index));
      const calls = async (list: readonly WatchedAddress[], range: Range) => {
        const asked = node.asked.length;
        const { transfers } = await scan(list, range);
        expect(transfers).toHaveLength(expected().length);
        return node.asked.slice(asked).toSorted();
      };
      const few = watch(USDC, a, b, c, ...many.slice(0, 97));
      const all = watch(USDC, a, b, c, ...many);
      for (const range of [{}, FINAL]) {
        const one = { from: height, to: height, ...range };
        expect(await calls(all, one)).toEqual(await calls(few, one));
      }
    });

    test('count neither if the transaction failed, nor if the log was removed', async () => {
      const request = { from: height, to: height };
      for (const [of, fields] of [
        ['eth_getTransactionReceipt', { status: '0x0' }],
        ['eth_getLogs', { removed: true }],
      ] as const) {
        proxy.alter((method, _params, result) => {
          if (method !== of) return result;
          return Array.isArray(result)
            ? result.map(log => ({ ...log, ...fields }))
            : { ...(result as object), ...fields };
        });
        expect((await scan(watch(USDC, a, b), request)).transfers).toEqual([]);
      }
    });

    test('of blocks in which nothing is watched, only the last header is requested', async () => {
      const { transfers, through } = await scan([], { from: 1, to: height });
      expect(transfers).toEqual([]);
      expect(through.height).toBe(height);
      expect(node.asked).toEqual(['eth_getBlockByNumber']);
    });

    test('what a node sends of another block, or omits, is its failure', async () => {
      const list = watch(USDC, a);
      const range = { from: height - 1, to: height };
      const altered = (of: string, change: (result: never) => unknown) =>
        proxy.alter((method, _params, result) =>
          method === of ? change(result as never) : result,
        );
      const elsewhere = `0x${'12'.repeat(32)}`;
      const logs = (fields: object) =>
        altered('eth_getLogs', (all: object[]) => all.map(log => ({ ...log, ...fields })));
      const refused = async (more: Partial<ScanRequest> = {}) =>
        expect(scan(list, { ...range, ...more })).rejects.toThrow(NodeFailure);

      logs({ blockHash: elsewhere });
      await refused();
      await refused(FINAL);
      logs({ blockNumber: '0x1' });
      await refused(FINAL);
      altered('eth_getTransactionReceipt', () => null);
      await refused();
      altered('eth_getTransactionReceipt', (each: object) => ({ ...each, blockHash: elsewhere }));
      await refused(FINAL);
      altered('eth_getBlockByNumber', () => null);
      await refused();
      await refused(FINAL);
      altered('eth_getBlockByNumber', (each: object) => ({ ...each, number: '0x1' }));
      await refused();
      for (const message of ['unknown block', 'block range extends beyond current head block']) {
        altered('eth_getLogs', () => {
          throw new RpcRefusal(-32_000, message);
        });
        await refused();
        const asked = node.asked.length;
        await refused(FINAL);
        expect(node.asked.slice(asked)).toHaveLength(3);
      }
      proxy.alter(null);
      await refused({ parentHash: elsewhere });
      await refused({ parentHash: elsewhere, ...FINAL });
      const parent = await adapter.readBlock(node, range.from - 1);
      expect(
        (await scan(list, { ...range, parentHash: parent?.hash ?? '' })).transfers,
      ).not.toEqual([]);
    });

    test('a backend without the block cannot respond with an empty list', async () => {
      const list = watch(USDC, a);
      const filters: { blockHash?: string }[] = [];
      proxy.alter((method, params, result) => {
        if (method === 'eth_getLogs') filters.push(params[0] as { blockHash?: string });
        return result;
      });
      await scan(list, { from: height - 1, to: height });
      const [first, second] = [height - 1, height].map(number => adapter.readBlock(node, number));
      const hashes = [(await first)?.hash, (await second)?.hash];
      expect(filters.map(({ blockHash }) => blockHash)).toEqual(hashes);
    });
  });

  describe('ranges', () => {
    const payee = someAddress(50);
    let first: number;
    let last: number;

    beforeAll(async () => {
      first = (await evm.height()) + 1;
      for (const blocks of [40, 40, 20]) {
        await evm.transferToken(USDC_TEST, payee, BigInt(blocks));
        await evm.mine(blocks);
      }
      last = await evm.height();
    });

    /** Scans the whole range: how many blocks each log query requested, and what was found. */
    async function scanAll(
      refusal: string | { readonly result: unknown },
      widest: number,
      list: readonly WatchedAddress[],
      own: Node = node,
    ) {
      const fresh = createEvmAdapter(chainOf('eth-test'));
      const asked: number[] = [];
      proxy.alter((method, [filter], result) => {
        if (method !== 'eth_getLogs') return result;
        const { fromBlock, toBlock } = filter as { fromBlock: string; toBlock: string };
        const width = Number(toBlock) - Number(fromBlock) + 1;
        asked.push(width);
        if (width <= widest) return result;
        if (typeof refusal === 'string') throw new RpcRefusal(-32_600, refusal);
        return refusal.result;
      });
      const amounts: bigint[] = [];
      for (let from = first; from <= last; ) {
        const { transfers, through } = await fresh.scan(own, {
          from,
          to: last,
          watch: list,
          ...FINAL,
        });
        amounts.push(...transfers.map(({ tokenAmount }) => tokenAmount));
        from = through.height + 1;
      }
      return { asked, amounts };
    }

    test.each([
      'eth_getLogs is limited to a 60 block range',
      'query returned more than 10000 results',
      'response size exceeded',
    ])('halve if a node refuses them, and grow again by a quarter: "%s"', async refusal => {
      node = plainNode(proxy.url, {}, { logRange: 160 });
      const { asked, amounts } = await scanAll(refusal, 60, watch(USDC, payee));
      expect(asked).toEqual([100, 50, 50]);
      expect(amounts).toEqual([40n, 40n, 20n]);
    });

    test('halve if a response is too large to parse, which is no failure', async () => {
      const { url } = proxy;
      const opened = openNode(
        {
          id: 'n1',
          chain: 'eth-test',
          label: 'one',
          role: 'primary',
          requestsPerSecond: 1_000,
          access: { url, headers: {} },
          abilities: { trace: null, logRange: 160, batch: 50, archive: true, pruneHeight: null },
        },
        { clock: Date.now },
      );
      const own = opened.within(AbortSignal.timeout(30_000));
      const large = { result: '0'.repeat(17 * 1024 * 1024) };
      const { asked, amounts } = await scanAll(large, 60, watch(USDC, payee), own);
      // Each that is too large is requested again, by itself.
      expect(asked).toEqual([100, 100, 50, 50]);
      expect(amounts).toEqual([40n, 40n, 20n]);
      expect(opened.failures()).toBe(0);
      await opened.close();
    });

    test('shrink to one block, also next to whole blocks', async () => {
      const both = [...watch(USDC, payee), ...watch(NATIVE, someAddress(51))];
      for (const list of [watch(USDC, payee), both]) {
        node = plainNode(proxy.url, {}, { logRange: 8 });
        const { asked, amounts } = await scanAll('block range too large', 1, list);
        expect(amounts).toEqual([40n, 40n, 20n]);
        expect(asked.filter(width => width === 1)).toHaveLength(100);
      }
    });
  });

  describe('transfers of the native asset', () => {
    test('are the top-level values of transactions that succeed', async () => {
      const [a, b] = [someAddress(60), someAddress(61)];
      const hash = await evm.transferNative(a, 5n);
      await evm.transferNative(a, 0n);
      await evm.transferNative(b, 6n);
      // An address with code is treated like any other.
      await evm.transferNative(payer, 7n);
      await evm.send({ to: payer, value: 8n, data: '0x12345678' });
      await evm.send({ to: null, value: 9n });
      await evm.mine();
      const height = await evm.height();
      const { transfers, through } = await scan(watch(NATIVE, a, payer), {
        from: height - 1,
        to: height,
      });
      const told = transfers.map(({ address, tokenAmount }) => [address, tokenAmount]);
      expect(told).toEqual([
        [a, 5n],
        [payer, 7n],
      ]);
      expect(transfers[0]).toEqual({
        blockchainId: 'eth-test',
        transactionHash: hash,
        position: 0,
        address: a,
        tokenAmount: 5n,
        block: { height, hash: through.hash, time: through.time },
        inputs: null,
        maturity: 1,
      });
    });

    test('are read from a limited number of blocks at once, and the scan reports how far it got', async () => {
      const from = (await evm.height()) + 1;
      await evm.mine(130);
      const list = watch(NATIVE, someAddress(60));
      const { through } = await scan(list, { from, to: from + 129 });
      expect(through.height).toBe(from + 99);
      const before = node.requests;
      await scan(list, { from, to: from + 99 });
      expect(node.requests - before).toBe(5);
    });
  });
});
