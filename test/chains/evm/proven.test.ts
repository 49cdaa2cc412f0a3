import { RLP } from '@ethereumjs/rlp';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScanRequest } from '#chains/adapter.ts';
import { chainOf } from '#chains/chain-list.ts';
import { createEvmAdapter } from '#chains/evm/adapter.ts';
import { headerHash } from '#chains/evm/header-hash.ts';
import { LaggingNode, NodeFailure, ResponseTooLarge } from '#chains/nodes/node.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import { ANVIL_MISSING, hasAnvil } from '../../helpers/anvil.ts';
import {
  type Evm,
  type EvmChain,
  encodeCall,
  RICH,
  someAddress,
  startEvm,
  USDC_TEST,
} from '../../helpers/evm.ts';
import { type NodeProxy, RpcRefusal } from '../../helpers/node-proxy.ts';
import { type PlainNode, plainNode } from '../../helpers/plain-node.ts';
import { NATIVE, USDC, watch } from './networks.ts';

const RECEIPTS = 'eth_getBlockReceipts';
const FINAL = { undoableFrom: Number.MAX_SAFE_INTEGER };
const [a, b, c] = [someAddress(1), someAddress(2), someAddress(3)];
/** Only odd blocks have transfers, one each; the others are empty. */
const BLOCKS = 11;

// biome-ignore lint/suspicious/noExplicitAny: as a node sends it.
type Sent = any;

/** Anvil's third account, which authorizes a contract's code for itself (EIP-7702). */
function authorize(chainId: number, address: string, nonce: number) {
  const key = Buffer.from(
    '5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
    'hex',
  );
  const content = RLP.encode([chainId, Buffer.from(address.slice(2), 'hex'), nonce]);
  const hash = keccak_256(concatBytes(Uint8Array.of(5), content));
  const signature = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' });
  const number = (from: number) =>
    `0x${BigInt(`0x${hex.encode(signature.slice(from, from + 32))}`).toString(16)}`;
  return {
    chainId: quantity(chainId),
    address,
    nonce: quantity(nonce),
    yParity: quantity(signature[0] ?? 0),
    r: number(1),
    s: number(33),
  };
}

const quantity = (value: number) => `0x${value.toString(16)}`;

function inOrder(transfers: readonly ChainTransfer[]): ChainTransfer[] {
  const keyOf = ({ block, transactionHash, position }: ChainTransfer) =>
    `${String(block?.height).padStart(9)} ${transactionHash} ${position}`;
  return transfers.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

describe.skipIf(!hasAnvil)(`anvil (${hasAnvil ? 'a real node' : ANVIL_MISSING})`, () => {
  let chain: EvmChain;
  let evm: Evm;
  let proxy: NodeProxy;
  let node: PlainNode;
  /** Blocks with transfers of tokens and of the native asset, in all transaction types that anvil sends. */
  let from: number;
  let to: number;

  beforeAll(async () => {
    chain = await startEvm();
    ({ evm, proxy } = chain);
    await evm.place('token', USDC_TEST);
    const payer = await evm.deploy('payer');
    await evm.mint(USDC_TEST, payer, 1_000_000n);
    await evm.mint(USDC_TEST, RICH[0], 1_000_000n);
    await evm.mine();
    from = (await evm.height()) + 1;
    for (let made = 0; made < BLOCKS; made++) {
      if (made % 2 === 0) {
        await evm.transferToken(USDC_TEST, a, BigInt(10 + made));
        await evm.transferToken(USDC_TEST, someAddress(9), 1n);
        await evm.transferNative(b, BigInt(20 + made));
        await evm.payTokens(payer, USDC_TEST, [
          { to: someAddress(9), amount: 2n },
          { to: c, amount: BigInt(30 + made) },
        ]);
        await evm.send({ to: b, value: 40n, gasPrice: 10_000_000_000n });
        await evm.send({ to: USDC_TEST, value: 1n });
      }
      await evm.mine();
    }
    to = await evm.height();
  });
  beforeEach(() => {
    proxy.alter(null);
    node = plainNode(proxy.url);
  });
  afterAll(() => chain?.stop());

  const create = () => createEvmAdapter(chainOf('eth-test'));

  /** What the first look at all blocks finds. */
  async function lookFirst(list: readonly WatchedAddress[]): Promise<ChainTransfer[]> {
    const { transfers } = await create().scan(node, { watch: list, from, to, ...FINAL });
    return inOrder(transfers);
  }

  /** Takes the second look at all blocks. */
  async function look(
    list: readonly WatchedAddress[],
    {
      adapter = create(),
      ...range
    }: Partial<ScanRequest> & { adapter?: ReturnType<typeof create> } = {},
  ) {
    const transfers: ChainTransfer[] = [];
    const unreadable: unknown[] = [];
    for (let next = range.from ?? from; next <= (range.to ?? to); ) {
      const request = { undoableFrom: 0, isSecondLook: true as const, ...range };
      const scan = await adapter.scan(node, {
        ...request,
        watch: list,
        from: next,
        to: range.to ?? to,
      });
      transfers.push(...scan.transfers);
      unreadable.push(...(scan.unreadable ?? []));
      next = scan.through.height + 1;
    }
    expect(unreadable).toEqual([]);
    return inOrder(transfers);
  }

  const asked = (method: string) => node.asked.filter(each => each === method).length;

  /** Changes the node's receipts. */
  const alterReceipts = (change: (receipts: Sent[]) => unknown) =>
    proxy.alter((method, _params, result) =>
      method === RECEIPTS ? change(structuredClone(result) as Sent[]) : result,
    );

  const LISTS = [
    { what: 'tokens', list: watch(USDC, a, c) },
    { what: 'the native asset', list: watch(NATIVE, b) },
    { what: 'both', list: [...watch(USDC, a, c), ...watch(NATIVE, a, b)] },
  ];

  test.each(LISTS)('the receipts show the same transfers of $what as logs do', async ({ list }) => {
    const first = await lookFirst(list);
    expect(first.length).toBeGreaterThan(BLOCKS / 2);
    node.asked.length = 0;
    expect(await look(list)).toEqual(first);
    for (const method of ['eth_getLogs', 'eth_getTransactionReceipt'])
      expect(asked(method)).toBe(0);
    // The header proves that a block is empty.
    expect(asked(RECEIPTS)).toBe(Math.ceil(BLOCKS / 2));
  });

  test('dust needs nothing else, and awaited transfers are read first', async () => {
    const taken: bigint[] = [];
    const scan = await create().scan(node, {
      watch: watch(USDC, a, c),
      from,
      to: from,
      undoableFrom: 0,
      isSecondLook: true,
      weigh: async arrivals => arrivals.map(({ address }) => (address === c ? 'awaited' : 'dust')),
      takeAwaited: async transfers =>
        void taken.push(...transfers.map(({ tokenAmount }) => tokenAmount)),
    });
    expect(taken).toEqual([30n]);
    expect(scan.transfers).toMatchObject([{ address: c, position: 1 }]);
    expect(scan.dust).toMatchObject([{ address: a, tokenAmount: 10n }]);
  });

  test('a block is skipped if its logs filter excludes every watched address, and belongs to its header', async () => {
    const elsewhere = Array.from({ length: 11 }, (_, index) => someAddress(1_000 + index));
    const few = watch(USDC, ...elsewhere.slice(0, 10));
    expect(await look(few)).toEqual([]);
    expect(asked(RECEIPTS)).toBe(0);
    const another = { id: 'eth-usdt-test', contract: someAddress(70) };
    expect(await look(watch(another, a))).toEqual([]);
    expect(asked(RECEIPTS)).toBe(0);
    await look(watch(USDC, ...elsewhere));
    expect(asked(RECEIPTS)).toBe(Math.ceil(BLOCKS / 2));
    // If a node empties the filter, the header's hash does not match.
    proxy.alter((method, _params, result) =>
      method === 'eth_getBlockByNumber'
        ? { ...(result as object), logsBloom: `0x${'00'.repeat(256)}` }
        : result,
    );
    expect(await look(watch(USDC, a))).toHaveLength(Math.ceil(BLOCKS / 2));
  });

  test('whatever a node omits, moves or changes in the receipts is its failure', async () => {
    const list = watch(USDC, a, c);
    const changes: ((receipts: Sent[]) => unknown)[] = [
      all => all.slice(1),
      all => all.slice(0, -1),
      all => [...all, all.at(-1)],
      all => [all[1], all[0], ...all.slice(2)],
      () => [],
      () => 'nonsense',
    ];
    const [receipts] = (await node.batch([
      { method: RECEIPTS, params: [(await create().readBlock(node, from))?.hash] },
    ])) as [Sent[]];
    for (const [at, { logs }] of receipts.entries()) {
      const own = (change: (receipt: Sent) => object) => (all: Sent[]) =>
        all.with(at, { ...all[at], ...change(all[at]) });
      changes.push(
        own(({ status }) => ({ status: status === '0x1' ? '0x0' : '0x1' })),
        own(() => ({ type: '0x3' })),
        own(() => ({ cumulativeGasUsed: '0x1' })),
        own(() => ({ logsBloom: `0x${'ff'.repeat(256)}` })),
        own(() => ({ logsBloom: undefined })),
        own(() => ({ blockHash: `0x${'12'.repeat(32)}` })),
        own(() => ({ transactionHash: `0x${'12'.repeat(32)}` })),
      );
      for (const [place, log] of (logs as Sent[]).entries()) {
        const changed = (fields: object) =>
          own(receipt => ({ logs: receipt.logs.with(place, { ...log, ...fields }) }));
        changes.push(
          own(receipt => ({ logs: receipt.logs.toSpliced(place, 1) })),
          own(receipt => ({ logs: receipt.logs.toSpliced(place, 0, log) })),
          changed({ address: someAddress(7) }),
          changed({ topics: log.topics.slice(1) }),
          changed({ topics: log.topics.with(2, log.topics[1]) }),
          changed({ data: `${log.data}00` }),
          // The bytes are the same, but the parser of logs would not recognise them.
          changed({ topics: log.topics.with(2, `${log.topics[2]}zz`) }),
          changed({ data: `${log.data}zz` }),
        );
      }
    }
    for (const change of changes) {
      alterReceipts(change);
      await expect(look(list, { to: from }), change.toString()).rejects.toThrow(NodeFailure);
    }
    expect(changes.length).toBeGreaterThan(60);
  });

  test('fields that are not hashed cannot hide a transfer', async () => {
    alterReceipts(all =>
      all.map(each => ({
        ...each,
        logs: each.logs.map((log: object) => ({ ...log, removed: true, blockHash: null })),
      })),
    );
    expect(await look(watch(USDC, a))).toHaveLength(Math.ceil(BLOCKS / 2));
  });

  test('a transaction that a node omits from its block is missed among the receipts', async () => {
    for (const range of [[1], [0, -1]]) {
      proxy.alter((method, _params, result) =>
        method === 'eth_getBlockByNumber'
          ? { ...(result as Sent), transactions: (result as Sent).transactions.slice(...range) }
          : result,
      );
      for (const list of [watch(NATIVE, b), watch(USDC, a)]) {
        await expect(look(list)).rejects.toThrow(NodeFailure);
      }
    }
  });

  test('a backend without the block counts as lagging', async () => {
    alterReceipts(() => null);
    await expect(look(watch(USDC, a))).rejects.toThrow(LaggingNode);
    alterReceipts(() => {
      throw new RpcRefusal(-32_000, 'header not found');
    });
    await expect(look(watch(USDC, a))).rejects.toThrow(LaggingNode);
  });

  test.each([
    [-32_601, 'the method eth_getBlockReceipts does not exist/is not available'],
    [-32_600, 'Unsupported method: eth_getBlockReceipts'],
    [-32_000, 'this is not included in your plan'],
  ])('a node that responds %i "%s" is asked once, and its logs are read', async (code, text) => {
    alterReceipts(() => {
      throw new RpcRefusal(code, text);
    });
    const adapter = create();
    for (const { list } of LISTS) {
      expect(await look(list, { adapter })).toEqual(await lookFirst(list));
    }
    // The blocks of one batch.
    expect(asked(RECEIPTS)).toBeLessThanOrEqual(4);
  });

  test('any other error is no failure either, and the node is asked again up to five times', async () => {
    const list = watch(USDC, a);
    const first = (await lookFirst(list)).slice(0, 1);
    alterReceipts(() => {
      throw new RpcRefusal(-32_603, 'internal error');
    });
    const adapter = create();
    for (let looked = 0; looked < 9; looked++) {
      expect(await look(list, { adapter, to: from })).toEqual(first);
    }
    expect(asked(RECEIPTS)).toBe(5);
  });

  test('receipts too large for a response are no failure: the logs of that block are read', async () => {
    const first = await lookFirst(watch(USDC, a, c));
    const height = `0x${from.toString(16)}`;
    node = {
      ...node,
      ...alteredNode(node, (method, _params, result) =>
        method === RECEIPTS && (result as Sent)[0]?.blockNumber === height
          ? new ResponseTooLarge('17 MB')
          : result,
      ),
    };
    expect(await look(watch(USDC, a, c))).toEqual(first);
    expect(asked('eth_getLogs')).toBe(2);
    const adapter = create();
    node.asked.length = 0;
    for (let looked = 0; looked < 7; looked++) await look(watch(USDC, a), { adapter, to: from });
    expect(asked(RECEIPTS)).toBe(7);
  });

  test('a node that proves nothing five times in a row is not asked for a while', async () => {
    const adapter = create();
    const list = watch(USDC, a);
    alterReceipts(all => all.slice(1));
    for (let failed = 0; failed < 4; failed++) {
      await expect(look(list, { adapter, to: from })).rejects.toThrow(NodeFailure);
    }
    const before = asked(RECEIPTS);
    for (let looked = 0; looked < 100; looked++) {
      expect(await look(list, { adapter, to: from })).toHaveLength(1);
    }
    expect(asked(RECEIPTS)).toBe(before + 1);
    proxy.alter(null);
    await look(list, { adapter, to: from });
    await look(list, { adapter, to: from });
    expect(asked(RECEIPTS)).toBe(before + 2);
  });

  test('a block that a node never proves is finally read without proof, whatever else it proves', async () => {
    const list = watch(USDC, a, c);
    const first = await lookFirst(list);
    const height = `0x${(from + 2).toString(16)}`;
    alterReceipts(all => (all[0]?.blockNumber === height ? all.slice(1) : all));
    const adapter = create();
    for (let failed = 0; failed < 5; failed++) {
      await expect(look(list, { adapter })).rejects.toThrow(NodeFailure);
    }
    node.asked.length = 0;
    expect(await look(list, { adapter })).toEqual(first);
    expect(asked(RECEIPTS)).toBe(Math.ceil(BLOCKS / 2));
    expect(asked('eth_getLogs')).toBe(1);
  });

  describe('transfers that a block proves', () => {
    const prove = async (hash: string, list: readonly WatchedAddress[], adapter = create()) =>
      adapter.proveTransfers?.(node, { hash }, list);
    const hashOf = async (height: number) => (await create().readBlock(node, height))?.hash ?? '';

    test('are those that the scan finds', async () => {
      const list = watch(USDC, a, c);
      const { transfers } = await create().scan(node, { watch: list, from, to: from, ...FINAL });
      expect(transfers).toHaveLength(2);
      expect(await prove(await hashOf(from), list)).toEqual(transfers);
      expect(await prove(await hashOf(from), watch(USDC, someAddress(77)))).toEqual([]);
    });

    test('are empty for another block, for one that does not exist, and for a forged header', async () => {
      const list = watch(USDC, a);
      expect(await prove(`0x${'12'.repeat(32)}`, list)).toBeNull();
      const hash = await hashOf(from);
      const other = await node.call('eth_getBlockByNumber', [
        `0x${(from + 2).toString(16)}`,
        false,
      ]);
      proxy.alter((method, _params, result) => (method === 'eth_getBlockByHash' ? other : result));
      expect(await prove(hash, list)).toBeNull();
      for (const change of [
        { hash: `0x${'12'.repeat(32)}` },
        { receiptsRoot: `0x${'12'.repeat(32)}` },
        { stateRoot: `0x${'12'.repeat(32)}` },
        { timestamp: 'nonsense' },
      ]) {
        proxy.alter((method, _params, result) =>
          method === 'eth_getBlockByHash' ? { ...(result as object), ...change } : result,
        );
        const proof = prove(hash, list);
        if (change.timestamp === undefined) expect(await proof).toBeNull();
        else await expect(proof).rejects.toThrow(NodeFailure);
      }
    });

    test('are empty from a node that omits a log, or lacks the method', async () => {
      const hash = await hashOf(from);
      alterReceipts(all => all.map(each => ({ ...each, logs: each.logs.slice(1) })));
      await expect(prove(hash, watch(USDC, a))).rejects.toThrow(NodeFailure);
      alterReceipts(() => {
        throw new RpcRefusal(-32_601, 'method not found');
      });
      expect(await prove(hash, watch(USDC, a))).toBeNull();
    });
  });

  test('transactions of the types 1 and 4 have receipts like the others', async () => {
    const [delegating, to] = [RICH[2], someAddress(60)];
    const nonce = Number(await evm.anvil.rpc('eth_getTransactionCount', [delegating, 'latest']));
    const authorization = authorize(11_155_111, USDC_TEST, nonce);
    for (const special of [
      { accessList: [{ address: USDC_TEST, storageKeys: [] }], gasPrice: '0x2540be400' },
      { authorizationList: [authorization] },
    ]) {
      const data = encodeCall('transfer(address,uint256)', [to, 7n]);
      const sent = { from: RICH[0], to: USDC_TEST, data, gas: '0x7a120', ...special };
      await evm.anvil.rpc('eth_sendTransaction', [sent]);
    }
    await evm.mine();
    const height = await evm.height();
    const block = await create().readBlock(node, height);
    const receipts = (await node.call(RECEIPTS, [block?.hash])) as Sent[];
    expect(receipts.map(({ type }) => type).toSorted()).toEqual(['0x1', '0x4']);
    expect(await look(watch(USDC, to), { from: height, to: height })).toHaveLength(2);
  });

  test('headers hash to the hashes of their blocks', async () => {
    for (const height of [0, 1, from, to]) {
      const params = [`0x${height.toString(16)}`, false];
      const header = (await node.call('eth_getBlockByNumber', params)) as Sent;
      expect(headerHash(header)).toBe(header.hash);
      expect(headerHash({ ...header, gasUsed: '0x1234' })).not.toBe(header.hash);
    }
  });
});
