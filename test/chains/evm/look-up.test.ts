import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { createEvmAdapter } from '#chains/evm/adapter.ts';
import { NodeFailure, RpcError } from '#chains/nodes/node.ts';
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
import { NATIVE, USDC, watch } from './networks.ts';

const UNKNOWN = `0x${'ab'.repeat(32)}`;

describe.skipIf(!hasAnvil)(`anvil (${hasAnvil ? 'a real node' : ANVIL_MISSING})`, () => {
  const adapter = createEvmAdapter(chainOf('eth-test'));
  const [a, b] = [someAddress(1), someAddress(2)];
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
    for (const rich of [payer, ...RICH]) await evm.mint(USDC_TEST, rich, 1_000_000n);
    await evm.mine(10);
  });
  beforeEach(() => {
    proxy.alter(null);
    node = plainNode(proxy.url);
  });
  afterAll(() => chain?.stop());

  const lookUp = (transactionHash: string, list: readonly WatchedAddress[], asked = node) =>
    adapter.lookUp(asked, { transactionHash, watch: list, inputs: null, blockHash: null });
  const tipOf = async () => (await adapter.readHeads(node, null)).tip;

  test('the node is identified by its chain, and probed for its abilities', async () => {
    const identity = await adapter.identify(node);
    expect(chainOf('eth-test').identities.map(({ id }) => id)).toContain(identity);
    expect(await adapter.probe(node)).toEqual({
      trace: 'debug_traceBlockByNumber',
      logRange: null,
      batch: 50,
      archive: true,
      pruneHeight: null,
    });
    proxy.alter((method, params, result) => {
      const isOld = method === 'eth_getBalance' && params[1] !== 'latest';
      if (isOld || method === 'debug_traceBlockByNumber') throw new RpcRefusal(-32_601, 'no');
      return result;
    });
    expect(await adapter.probe(node)).toMatchObject({ trace: 'trace_block', archive: false });
    proxy.alter(null);
    expect(await adapter.readDecimals(node, USDC_TEST)).toBe(6);
    expect(await adapter.readDecimals(node, someAddress(3))).toBeUndefined();
    expect(await adapter.readDecimals(node, payer)).toBeUndefined();
  });

  test('heads are the newest block, the final one and the one at the cursor', async () => {
    const height = await evm.height();
    const tip = await adapter.readBlock(node, height);
    const cursor = await adapter.readBlock(node, height - 1);
    expect(await adapter.readHeads(node, height - 1)).toEqual({
      tip,
      finalHeight: height - 4,
      cursorHash: cursor?.hash,
    });
    expect(tip?.parentHash).toBe(cursor?.hash);
    expect(await adapter.readHeads(node, null)).toMatchObject({ tip, cursorHash: null });
    expect(await adapter.readHeads(node, height + 5)).toMatchObject({ tip, cursorHash: null });
    expect(await adapter.readHeight(node)).toBe(height);
    expect(await adapter.readBlock(node, height + 5)).toBeNull();
    const avalanche = createEvmAdapter(chainOf('avax-test'));
    expect(await avalanche.readHeads(node, null)).toMatchObject({ finalHeight: height });
  });

  test('a transaction is unknown, pending, and then in a block with its transfers', async () => {
    const list = [...watch(USDC, a, b), ...watch(NATIVE, a)];
    expect(await lookUp(UNKNOWN, list)).toEqual({ status: 'unknown' });
    const payouts = [a, someAddress(9), b].map((to, index) => ({ to, amount: BigInt(index + 1) }));
    const tokens = await evm.payTokens(payer, USDC_TEST, payouts);
    const native = await evm.transferNative(a, 5n);
    expect(await lookUp(tokens, list)).toEqual({ status: 'pending', transfers: [] });
    await evm.mine();
    const { parentHash, ...inBlock } = await tipOf();
    const block = { ...inBlock, parentHash };
    expect(await lookUp(tokens, list)).toMatchObject({
      status: 'included',
      block,
      transfers: [
        { blockchainId: 'eth-usdc-test', position: 0, address: a, tokenAmount: 1n, block: inBlock },
        { blockchainId: 'eth-usdc-test', position: 2, address: b, tokenAmount: 3n, block: inBlock },
      ],
      foreign: [],
    });
    expect(await lookUp(native, list)).toMatchObject({
      status: 'included',
      transfers: [
        { blockchainId: 'eth-test', position: 0, address: a, tokenAmount: 5n, block: inBlock },
      ],
    });
  });

  test('one that failed is in a block, and moves nothing', async () => {
    const hashes = [
      await evm.transferToken(USDC_TEST, a, 10n ** 30n),
      await evm.call(payer, { signature: 'payAndFail(address)', value: 3n, arguments: [a] }),
    ];
    await evm.mine();
    const block = await tipOf();
    for (const hash of hashes) {
      expect(await lookUp(hash, watch(NATIVE, a))).toEqual({ status: 'failed', block });
    }
  });

  test('transfers of something else to a watched address are told apart', async () => {
    const other = await evm.deploy('token');
    await evm.mint(other, RICH[0], 100n);
    const hashes = [await evm.transferToken(other, a, 7n), await evm.transferNative(a, 8n)];
    await evm.mine();
    const [token = '', native = ''] = hashes;
    const list = watch(USDC, a);
    const foreign = { status: 'included', transfers: [] };
    expect(await lookUp(token, list)).toMatchObject({
      ...foreign,
      foreign: [{ address: a, contract: other }],
    });
    expect(await lookUp(native, list)).toMatchObject({
      ...foreign,
      foreign: [{ address: a, contract: null }],
    });
    expect(await lookUp(native, watch(USDC, b))).toMatchObject({ ...foreign, foreign: [] });
  });

  test('transfers by a contract are reported by nodes that trace, and others say that they cannot', async () => {
    const hash = await evm.call(payer, { signature: 'pay(address)', value: 9n, arguments: [a] });
    await evm.call(payer, { signature: 'pay(address)', value: 10n, arguments: [a] });
    await evm.mine();
    for (const trace of ['debug_traceBlockByNumber', 'trace_block'] as const) {
      const report = await lookUp(hash, watch(NATIVE, a), plainNode(proxy.url, {}, { trace }));
      expect(report).toMatchObject({
        status: 'included',
        transfers: [{ position: 1, address: a, tokenAmount: 9n }],
      });
      expect(report).not.toHaveProperty('untraced');
    }
    const untraced = { status: 'included', transfers: [], untraced: true };
    expect(await lookUp(hash, watch(NATIVE, a))).toMatchObject(untraced);
    // Tokens need no trace.
    expect(await lookUp(hash, watch(USDC, a))).not.toHaveProperty('untraced');
  });

  test('several transactions are looked up together, and their block is traced once', async () => {
    const pay = { signature: 'pay(address)', value: 3n };
    const requests = [
      {
        transactionHash: await evm.call(payer, { ...pay, arguments: [a] }),
        watch: watch(NATIVE, a),
      },
      { transactionHash: UNKNOWN, watch: watch(NATIVE, a) },
      {
        transactionHash: await evm.call(payer, { ...pay, arguments: [b] }),
        watch: watch(NATIVE, b),
      },
      {
        transactionHash: await evm.call(payer, { ...pay, arguments: [b] }),
        watch: watch(NATIVE, a),
      },
    ].map(each => ({ ...each, inputs: null, blockHash: null }));
    await evm.mine();
    const traces = plainNode(proxy.url, {}, { trace: 'trace_block' });
    const reports = (await adapter.lookUpAll?.(traces, requests)) ?? [];
    const told = reports.map(report =>
      report.status === 'included' ? report.transfers.map(({ address }) => address) : report.status,
    );
    expect(told).toEqual([[a], 'unknown', [b], []]);
    expect(traces.asked.filter(method => method === 'trace_block')).toHaveLength(1);
    expect(traces.requests).toBe(3);
  });

  test('a transfer keeps its position when it moves to another block at another index', async () => {
    const { rpc } = evm.anvil;
    const hash = await evm.transferToken(USDC_TEST, b, 77n, RICH[1]);
    await evm.mine();
    const raw = await rpc('eth_getRawTransactionByHash', [hash]);
    const [log] = (await rpc('eth_getTransactionReceipt', [hash])).logs;
    const before = await lookUp(hash, watch(USDC, b));
    await rpc('anvil_reorg', [1, []]);
    expect(await lookUp(hash, watch(USDC, b))).toEqual({ status: 'unknown' });
    const signature = 'payToken(address,address,uint256)';
    const first = { signature, arguments: [USDC_TEST, b, 2n], gasPrice: 100_000_000_000n };
    await evm.call(payer, first);
    await rpc('eth_sendRawTransaction', [raw]);
    await evm.mine();
    const [moved] = (await rpc('eth_getTransactionReceipt', [hash])).logs;
    expect(Number(moved.logIndex)).toBeGreaterThan(Number(log.logIndex));
    expect(moved.blockHash).not.toBe(log.blockHash);
    const after = await lookUp(hash, watch(USDC, b));
    const transfers = [{ position: 0, address: b, tokenAmount: 77n }];
    expect(before).toMatchObject({ status: 'included', transfers });
    expect(after).toMatchObject({
      status: 'included',
      transfers,
      block: { hash: moved.blockHash },
    });
    const { height } = await tipOf();
    const scan = await adapter.scan(node, {
      from: height,
      to: height,
      watch: watch(USDC, b),
      undoableFrom: 0,
    });
    expect(scan.transfers.filter(each => each.transactionHash === hash)).toMatchObject(transfers);
  });

  test('receipts of another branch, of another transaction, and without a block, are ignored', async () => {
    const hash = await evm.transferNative(a, 1n);
    await evm.mine();
    const list = watch(NATIVE, a);
    const isUnread = async () =>
      expect(await lookUp(hash, list)).toMatchObject({ status: 'unreadable' });
    const alter = (of: string, change: (result: object) => unknown) =>
      proxy.alter((method, _params, result) => (method === of ? change(result as object) : result));
    alter('eth_getTransactionReceipt', each => ({ ...each, blockHash: UNKNOWN }));
    await isUnread();
    alter('eth_getTransactionReceipt', each => ({ ...each, transactionHash: UNKNOWN }));
    await expect(lookUp(hash, list)).rejects.toThrow(NodeFailure);
    alter('eth_getTransactionReceipt', () => null);
    await isUnread();
    alter('eth_getBlockByNumber', () => null);
    await isUnread();
    alter('eth_getTransactionReceipt', () => {
      throw new RpcRefusal(-32_000, 'something else');
    });
    await isUnread();
    proxy.alter(() => {
      throw new RpcRefusal(-32_000, 'something else');
    });
    await expect(lookUp(hash, list)).rejects.toThrow(RpcError);
  });
});
