import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInternalTransfers } from '#chains/evm/internal.ts';
import { MissingItems } from '#chains/missing-items.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { ANVIL_MISSING, hasAnvil } from '../../helpers/anvil.ts';
import { type Evm, type EvmChain, RICH, someAddress, startEvm } from '../../helpers/evm.ts';
import { type NodeProxy, RpcRefusal } from '../../helpers/node-proxy.ts';
import { type PlainNode, plainNode } from '../../helpers/plain-node.ts';
import { inCapitals } from './in-capitals.ts';
import { NATIVE, watch } from './networks.ts';

const internal = createInternalTransfers(new MissingItems());

const METHODS = ['debug_traceBlockByNumber', 'trace_block'] as const;
const SALT = `0x${'5a'.repeat(32)}`;

describe.skipIf(!hasAnvil)(`anvil (${hasAnvil ? 'a real node' : ANVIL_MISSING})`, () => {
  let chain: EvmChain;
  let evm: Evm;
  let proxy: NodeProxy;
  let payer: string;
  let node: PlainNode;

  beforeAll(async () => {
    chain = await startEvm();
    ({ evm, proxy } = chain);
    payer = await evm.deploy('payer');
  });
  afterAll(() => chain?.stop());

  const nodeThat = (trace: PlainNode['abilities']['trace']) => plainNode(proxy.url, {}, { trace });
  const hashAt = async (height: number): Promise<string> =>
    (await evm.anvil.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])).hash;
  const balances = async (height: number, addresses: readonly string[]) => {
    const read = await internal.readBalances(node, { height, hash: null, addresses });
    expect(read).not.toContain(null);
    return read as readonly bigint[];
  };

  beforeAll(() => {
    node = nodeThat('debug_traceBlockByNumber');
  });

  describe('balances', () => {
    const addresses = Array.from({ length: 701 }, (_, index) => someAddress(index));

    test('come 700 in one call, in the order of the addresses', async () => {
      const amounts = [1n, 2n ** 96n - 1n, 3n];
      for (const [index, number] of [0, 699, 700].entries()) {
        const amount = `0x${amounts[index]?.toString(16)}`;
        await evm.anvil.rpc('anvil_setBalance', [someAddress(number), amount]);
      }
      await evm.mine();
      const height = await evm.height();
      const asked = node.asked.length;
      const first = await balances(height, addresses.slice(0, 700));
      expect(node.asked.slice(asked)).toEqual(['eth_call']);
      expect(first).toHaveLength(700);
      expect([first[0], first[1], first[699]]).toEqual([1n, 0n, 2n ** 96n - 1n]);
      const more = await balances(height, addresses);
      expect(node.asked.slice(asked)).toEqual(['eth_call', 'eth_call', 'eth_call']);
      expect(more).toEqual([...first, 3n]);
      expect(await balances(height, [])).toEqual([]);
      proxy.alter((method, _params, result) => {
        if (method === 'eth_call') throw new RpcRefusal(-32_602, 'missing value for required "to"');
        return result;
      });
      try {
        expect(await balances(height, addresses)).toEqual(more);
      } finally {
        proxy.alter(null);
      }
    });

    test('are those of the block with the hash, or of none', async () => {
      const [address = ''] = addresses;
      const height = await evm.height();
      const hash = await hashAt(height);
      await evm.transferNative(address, 10n);
      await evm.mine();
      const pinned = { height, hash, addresses: [address] };
      const query = { ...pinned, height: height + 1, hash: await hashAt(height + 1) };
      expect(await internal.readBalances(node, pinned)).toEqual([1n]);
      expect(await internal.readBalances(node, query)).toEqual([11n]);
      expect(await balances(height, [address])).toEqual([1n]);
      await evm.anvil.rpc('anvil_reorg', [1, []]);
      await expect(internal.readBalances(node, query)).rejects.toThrow(NodeFailure);
      await expect(balances(height + 1_000, [address])).rejects.toThrow(NodeFailure);
    });

    test.each([
      'missing trie node 1f2e (path )',
      'header not found',
      'state at block #77 is pruned',
      'hash 0x12 is not currently canonical',
    ])('"%s" is a failure of the node', async message => {
      proxy.alter(() => {
        throw new RpcRefusal(-32_000, message);
      });
      const read = balances(1, addresses.slice(0, 2));
      await expect(read).rejects.toThrow(NodeFailure);
      proxy.alter(() => '0x00');
      await expect(balances(1, addresses.slice(0, 2))).rejects.toThrow('2 balances');
      proxy.alter(null);
    });
  });

  describe('movements', () => {
    const [, watched] = RICH;

    const moved = async (height: number, address: string) =>
      (await internal.readMovements(node, height, [address])).reduce(
        (sum, { address: own, amount }) => {
          expect(own).toBe(address);
          return sum + amount;
        },
        0n,
      );

    test('explain a balance: values in and out, and fees, including failed transactions', async () => {
      await evm.transferNative(watched, 7_000n);
      await evm.transferNative(someAddress(1), 5_000n, watched);
      const pay = { from: watched, value: 300n, arguments: [someAddress(2)] };
      await evm.call(payer, { ...pay, signature: 'payAndFail(address)' });
      await evm.call(payer, { ...pay, signature: 'pay(address)' });
      await evm.send({ from: watched, to: null, value: 20n });
      await evm.mine();
      const height = await evm.height();
      const [before = 0n] = await balances(height - 1, [watched]);
      const [after = 0n] = await balances(height, [watched]);
      expect(after).toBeLessThan(before - 5_000n + 7_000n - 300n - 20n);
      expect(await moved(height, watched)).toBe(after - before);
      expect(await moved(height, RICH[3])).toBe(0n);
    });

    test('show what came in and was swept within one block', async () => {
      const swept = RICH[2];
      await evm.transferNative(swept, 1_000_000n);
      await evm.transferNative(someAddress(3), 1_000_000n, swept);
      await evm.mine();
      const amounts = (await internal.readMovements(node, await evm.height(), [swept])).map(
        ({ amount }) => amount,
      );
      expect(amounts.filter(amount => amount > 0n)).toEqual([1_000_000n]);
      expect(amounts).toContain(-1_000_000n);
    });

    test('are the same from a node that writes digits as capitals', async () => {
      await evm.transferNative(watched, 7_000n);
      await evm.mine();
      const height = await evm.height();
      const plain = await internal.readMovements(node, height, RICH);
      proxy.alter(inCapitals);
      try {
        expect(await internal.readMovements(node, height, RICH)).toEqual(plain);
      } finally {
        proxy.alter(null);
      }
      expect(plain).toContainEqual({ address: watched, amount: 7_000n });
    });

    test('count fees for blobs, and withdrawals of validators in gwei', async () => {
      await evm.transferNative(someAddress(4), 1n, watched);
      await evm.mine();
      const height = await evm.height();
      const plain = await moved(height, watched);
      proxy.alter((method, _params, result) => {
        const fields = result as Record<string, unknown>;
        if (method === 'eth_getBlockByNumber') {
          return { ...fields, withdrawals: [{ address: watched.toLowerCase(), amount: '0x2' }] };
        }
        return { ...fields, blobGasUsed: '0x20000', blobGasPrice: '0x3' };
      });
      expect(await moved(height, watched)).toBe(plain + 2_000_000_000n - 393_216n);
      proxy.alter(method => (method === 'eth_getTransactionReceipt' ? null : undefined));
      await expect(moved(height, watched)).rejects.toThrow(NodeFailure);
      proxy.alter(null);
    });
  });

  describe('traces', () => {
    const [a, b, heir] = [someAddress(101), someAddress(102), someAddress(103)];
    let height: number;
    let hashes: Record<string, string>;
    let holder: string;
    let created: string;

    beforeAll(async () => {
      const call = (signature: string, value: bigint, ...args: string[]) =>
        evm.call(payer, { signature: `${signature}`, value, arguments: args });
      const view = await evm.read(payer, 'holderOf(bytes32)', [SALT]);
      holder = `0x${view.toString(16).padStart(40, '0')}`;
      hashes = {
        direct: await evm.transferNative(a, 1_000n),
        one: await call('pay(address)', 20n, a),
        many: await evm.payMany(payer, [
          { to: a, amount: 3n },
          { to: someAddress(0), amount: 9n },
          { to: a, amount: 0n },
          { to: b, amount: 4n },
          { to: a, amount: 5n },
        ]),
        holder: await call('create(bytes32)', 60n, SALT),
        heir: await call('destroyTo(address)', 70n, heir),
        caught: await call('payAndCatch(address)', 800n, a),
        failed: await call('payAndFail(address)', 900n, a),
        delegated: await call('delegateTo(address)', 11n, b),
        created: await evm.send({ to: null, value: 12n }),
      };
      await evm.mine();
      height = await evm.height();
      const receipt = await evm.anvil.rpc('eth_getTransactionReceipt', [hashes.created]);
      created = receipt.contractAddress;
    });

    const everybody = () => [a, b, heir, holder, created];

    test.each(METHODS)(
      '%s shows the value of calls, creations and self-destructs',
      async method => {
        const traced = await internal.trace(
          nodeThat(method),
          height,
          watch(NATIVE, ...everybody()),
        );
        const told = traced?.transfers.map(
          ({ transactionHash, position, address, tokenAmount }) => [
            Object.keys(hashes).find(name => hashes[name] === transactionHash),
            position,
            address,
            tokenAmount,
          ],
        );
        expect(told?.toSorted()).toEqual(
          [
            ['one', 1, a, 20n],
            ['many', 1, a, 3n],
            ['many', 3, b, 4n],
            ['many', 4, a, 5n],
            ['holder', 1, holder, 60n],
            // The self-destructing contract is first created with the value.
            ['heir', 2, heir, 70n],
            ['caught', 1, a, 1n],
            ['created', 1, created, 12n],
          ].toSorted(),
        );
        const [first] = traced?.transfers ?? [];
        expect(first).toMatchObject({ blockchainId: 'eth-test', inputs: null, maturity: 1 });
        expect(first?.block).toMatchObject({ height, hash: await hashAt(height) });
      },
    );

    test('traces and movements together explain every balance', async () => {
      const addresses = everybody();
      const traced = await internal.trace(node, height, watch(NATIVE, ...addresses));
      const movements = await internal.readMovements(node, height, addresses);
      const before = await balances(height - 1, addresses);
      const after = await balances(height, addresses);
      for (const [index, address] of addresses.entries()) {
        const explained = [
          ...(traced?.transfers ?? []).map(each => ({
            address: each.address,
            amount: each.tokenAmount,
          })),
          ...movements,
        ].filter(each => each.address === address);
        const sum = explained.reduce((total, { amount }) => total + amount, 0n);
        expect(sum, address).toBe((after[index] ?? 0n) - (before[index] ?? 0n));
        expect(sum).toBeGreaterThan(0n);
      }
    });

    test('a node that does not trace, or no longer that block, returns nothing', async () => {
      const list = watch(NATIVE, a);
      expect(await internal.trace(nodeThat(null), height, list)).toBeNull();
      const refuse = (message: string) =>
        proxy.alter((method, _params, result) => {
          if (method === 'debug_traceBlockByNumber') throw new RpcRefusal(-32_000, message);
          return method === 'eth_blockNumber' ? `0x${(height + newer).toString(16)}` : result;
        });
      let newer = 100;
      refuse('the method does not exist');
      expect(await internal.trace(node, height, list)).toBeNull();
      refuse('missing trie node 1f2e');
      await expect(internal.trace(node, height, list)).rejects.toThrow(NodeFailure);
      newer = 101;
      expect(await internal.trace(node, height, list)).toBeNull();
      proxy.alter(null);
    });

    test.each(METHODS)('a trace of another block by %s is a failure', async method => {
      await evm.transferNative(a, 1n);
      await evm.mine();
      const other = await evm.anvil.rpc(method, [
        `0x${(await evm.height()).toString(16)}`,
        ...(method === 'trace_block' ? [] : [{ tracer: 'callTracer' }]),
      ]);
      proxy.alter((asked, _params, result) => (asked === method ? other : result));
      const read = internal.trace(nodeThat(method), height, watch(NATIVE, a));
      await expect(read).rejects.toThrow(NodeFailure);
      proxy.alter(null);
    });
  });
});
