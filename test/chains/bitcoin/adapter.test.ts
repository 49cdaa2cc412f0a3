import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import { scriptOf } from '#chains/bitcoin/script.ts';
import { chainOf } from '#chains/chain-list.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import {
  BITCOIND,
  BITCOIND_MISSING,
  type Bitcoind,
  startBitcoind,
} from '../../helpers/bitcoind.ts';
import { ELSEWHERE, NETWORK, newAddress, sign, spendOutput, toSatoshi, watch } from './spend.ts';

const missing = BITCOIND === undefined;

describe.skipIf(missing)(missing ? BITCOIND_MISSING : 'a real node', () => {
  let bitcoind: Bitcoind;
  let node: Node;
  const adapter = createBitcoinAdapter();

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    node = bitcoind.node;
  });
  afterAll(() => bitcoind?.stop());

  const height = (): Promise<number> => bitcoind.rpc('getblockcount');

  async function scan(from: number, to: number, ...addresses: readonly string[]) {
    return adapter.scan(node, {
      from,
      to,
      watch: watch(...addresses),
      undoableFrom: 0,
      parentHash: null,
    });
  }

  test('is identified by its first block, and probed for its abilities', async () => {
    const identity = await adapter.identify(node);
    const known = chainOf('btc-test').identities.find(({ id }) => id === identity);
    expect(known).toMatchObject({ name: 'Bitcoin regtest', private: true });
    expect(await adapter.probe(node)).toEqual({
      trace: null,
      logRange: null,
      batch: 100,
      archive: true,
      pruneHeight: null,
    });
    expect(await adapter.readDecimals(node, 'anything')).toBeUndefined();
  });

  test('shows its newest block and the one at the cursor', async () => {
    const count = await height();
    const best = await bitcoind.rpc('getblock', await bitcoind.rpc('getbestblockhash'));
    const tip = {
      height: count,
      hash: best.hash,
      parentHash: best.previousblockhash,
      time: new Date(best.time * 1_000),
    };
    const parent = { tip, finalHeight: null, cursorHash: best.previousblockhash };
    expect(await adapter.readHeads(node, count - 1)).toEqual(parent);
    expect(await adapter.readHeads(node, null)).toMatchObject({ tip, cursorHash: null });
    expect(await adapter.readHeight(node)).toBe(count);
    expect(await adapter.readHeads(node, count + 1)).toMatchObject({ tip, cursorHash: null });
    expect(await adapter.readBlock(node, count)).toEqual(tip);
    expect(await adapter.readBlock(node, count + 1)).toBeNull();
    // Beyond the range of heights, for which the node returns another error.
    expect(await adapter.readHeads(node, 9e15)).toMatchObject({ tip, cursorHash: null });
    expect(await adapter.readBlock(node, 9e15)).toBeNull();
    expect(await adapter.readBlock(node, 0)).toMatchObject({
      hash: await adapter.identify(node),
      parentHash: '0'.repeat(64),
    });
  });

  test('notices a new tip, with one request for the heads as long as there is none', async () => {
    const { tip } = await adapter.readHeads(node, 1);
    const before = bitcoind.node.requests;
    await adapter.readHeads(node, 1);
    expect(bitcoind.node.requests - before).toBe(1);
    const [hash] = await bitcoind.mine(1);
    const next = await adapter.readHeads(node, 1);
    expect(next.tip).toMatchObject({ height: tip.height + 1, hash, parentHash: tip.hash });
  });

  test('pays to addresses of every type, each of which is found with its output', async () => {
    const types = ['legacy', 'p2sh-segwit', 'bech32', 'bech32m'];
    const addresses = await Promise.all(types.map(type => newAddress(bitcoind, type)));
    const { address: wide } = await bitcoind.rpc('createmultisig', 1, [KEY], 'bech32');
    addresses.push(wide);
    for (const address of addresses) {
      const { scriptPubKey } = await bitcoind.rpc('validateaddress', address);
      expect(scriptOf(address)).toBe(scriptPubKey);
    }
    const amounts = addresses.map(
      (address, index) => [address, (10_000_001 + index) / 1e8] as const,
    );
    const id = await bitcoind.rpc('sendmany', '', Object.fromEntries(amounts));
    const [hash] = await bitcoind.mine(1);
    const at = await height();
    const { transfers, through } = await scan(at, at, ...addresses);
    expect(through).toMatchObject({ height: at, hash });

    const { vin, vout } = await bitcoind.rpc('getrawtransaction', id, true);
    const inputs = vin.map((each: { txid: string; vout: number }) => `${each.txid}:${each.vout}`);
    const block = { height: at, hash, time: through.time };
    const expected = vout
      .filter((output: Output) => addresses.includes(output.scriptPubKey.address))
      .map((output: Output) => ({
        blockchainId: NETWORK.id,
        transactionHash: id,
        position: output.n,
        address: output.scriptPubKey.address,
        tokenAmount: toSatoshi(output.value),
        block,
        inputs,
        maturity: 1,
      }));
    expect(expected).toHaveLength(5);
    expect(transfers).toEqual(expected);
  });

  test('pays twice to one address in one transaction: two transfers', async () => {
    const [address, other] = [await newAddress(bitcoind), await newAddress(bitcoind)];
    const rich = { minimumAmount: 10 };
    const [coin] = await bitcoind.rpc('listunspent', 1, 1_000, [], true, rich);
    const inputs = [{ txid: coin.txid, vout: coin.vout }];
    const rest = Number(toSatoshi(coin.amount) - 300_100_000n) / 1e8;
    const outputs = [{ [address]: 1 }, { [other]: 2 }, { data: 'aa' }, { [ELSEWHERE]: rest }];
    const draft: string = await bitcoind.rpc('createrawtransaction', inputs, outputs);
    // The node refuses to create the same address twice.
    const signed = await sign(bitcoind, draft.replace(scriptOf(other), scriptOf(address)));
    const id = await bitcoind.rpc('sendrawtransaction', signed);
    await bitcoind.mine(1);
    const at = await height();
    const { transfers } = await scan(at, at, address);
    expect(transfers.map(each => [each.transactionHash, each.position, each.tokenAmount])).toEqual([
      [id, 0, 100_000_000n],
      [id, 1, 200_000_000n],
    ]);
  });

  test('pays in a chain of transactions within one block', async () => {
    const address = await newAddress(bitcoind);
    const parent = await bitcoind.rpc('sendtoaddress', address, 1);
    const { details } = await bitcoind.rpc('gettransaction', parent);
    const { vout } = details.find((each: { category: string }) => each.category === 'receive');
    // The child pays for both.
    const child = await bitcoind.rpc(
      'sendrawtransaction',
      await spendOutput(bitcoind, parent, vout, address),
    );
    await bitcoind.mine(1);
    const at = await height();
    const { transfers } = await scan(at, at, address);
    expect(transfers.map(each => [each.transactionHash, each.tokenAmount])).toEqual([
      [parent, 100_000_000n],
      [child, 99_900_000n],
    ]);
    expect(transfers[1]?.inputs).toEqual([`${parent}:${vout}`]);
  });

  test('pays a new block to an address, which has to wait for a hundred blocks', async () => {
    const address = await newAddress(bitcoind);
    await bitcoind.mine(1, address);
    const at = await height();
    const { transfers } = await scan(at, at, address);
    expect(transfers).toMatchObject([{ position: 0, inputs: [], maturity: 100 }]);
    expect(transfers[0]?.tokenAmount).toBeGreaterThan(2_500_000_000n);
  });

  test('is scanned in parts: twenty blocks at once, or one if each takes long', async () => {
    const { through, transfers } = await scan(0, await height(), ELSEWHERE);
    expect(through.height).toBe(19);
    expect(through).toEqual(await adapter.readBlock(node, 19));
    expect(transfers).toEqual([]);
    let now = 0;
    const slow = createBitcoinAdapter({ workMs: 10_000, elapsed: () => (now += 6_000) });
    const request = { from: 5, to: 15, watch: watch(ELSEWHERE), undoableFrom: 0, parentHash: null };
    expect((await slow.scan(node, request)).through.height).toBe(6);
  });

  test('is scanned neither past its end, nor on another branch than the cursor’s', async () => {
    const at = await height();
    await expect(scan(at, at + 1, ELSEWHERE)).rejects.toThrow(/^plain: there is no block at/);
    const request = { from: 5, to: 6, watch: watch(ELSEWHERE), undoableFrom: 0, parentHash: null };
    const parent = await adapter.readBlock(node, 4);
    const scanned = await adapter.scan(node, { ...request, parentHash: parent?.hash ?? null });
    expect(scanned.through.height).toBe(6);
    const elsewhere = adapter.scan(node, { ...request, parentHash: 'ab'.repeat(32) });
    await expect(elsewhere).rejects.toThrow('does not follow block abab');
  });

  test.each([
    ['another block', (_: string, other: string) => other, 'its hash is'],
    ['half a header', (hex: string) => hex.slice(0, 100), 'is malformed'],
    ['no hex', () => 'zz', 'not hex'],
    ['an object', () => ({}), 'is not text'],
    ['nothing', () => null, 'is not text'],
  ])('is refused for responding with %s', async (_, forge, reason) => {
    const other = await bitcoind.rpc('getblock', await bitcoind.rpc('getblockhash', 7), 0);
    const forging: Node = {
      ...node,
      async batch(calls, options) {
        const answers = await node.batch(calls, options);
        return calls[0]?.method === 'getblock' ? [forge(String(answers[0]), other)] : answers;
      },
    };
    const request = { from: 5, to: 6, watch: watch(ELSEWHERE), undoableFrom: 0, parentHash: null };
    const scanned = adapter.scan(forging, request);
    await expect(scanned).rejects.toThrow(NodeFailure);
    await expect(scanned).rejects.toThrow(reason);
  });

  test('with a truncated block is asked for its transactions', async () => {
    const address = await newAddress(bitcoind);
    const id = await bitcoind.rpc('sendtoaddress', address, 1);
    await bitcoind.mine(1);
    const at = await height();
    const cutting: Node = {
      ...node,
      async batch(calls, options) {
        const answers = await node.batch(calls, options);
        return calls[0]?.method === 'getblock' ? [String(answers[0]).slice(0, 400)] : answers;
      },
    };
    const request = { from: at, to: at, watch: watch(address), undoableFrom: 0, parentHash: null };
    const { transfers, unreadable, through } = await adapter.scan(cutting, request);
    expect(transfers).toMatchObject([{ transactionHash: id, tokenAmount: 100_000_000n }]);
    expect(unreadable).toEqual([]);
    expect(through).toEqual(await adapter.readBlock(node, at));
  });
});

interface Output {
  readonly n: number;
  readonly value: number;
  readonly scriptPubKey: { readonly address: string };
}

/** The public key whose secret is 1. */
const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
