import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LookUpRequest } from '#chains/adapter.ts';
import { createBitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { PrunedBlock } from '#chains/pruned-block.ts';
import {
  BITCOIND,
  BITCOIND_MISSING,
  type Bitcoind,
  startBitcoind,
} from '../../helpers/bitcoind.ts';
import { conflictWith, ELSEWHERE, newAddress, spendOutput, watch } from './spend.ts';

const missing = BITCOIND === undefined;

/** Small block files, deleted on demand. */
const PRUNED = ['-prune=1', '-fastprune'];

describe.skipIf(missing).each([
  { name: 'with an index', settings: ['-txindex=1'], isIndexed: true },
  { name: 'without an index, pruned', settings: PRUNED, isIndexed: false },
])(missing ? BITCOIND_MISSING : 'a transaction on a node $name', ({ settings, isIndexed }) => {
  let bitcoind: Bitcoind;
  let address: string;
  const adapter = createBitcoinAdapter();

  beforeAll(async () => {
    bitcoind = await startBitcoind(settings);
    address = await newAddress(bitcoind);
  });
  afterAll(() => bitcoind?.stop());

  const rpc = (method: string, ...params: readonly unknown[]) => bitcoind.rpc(method, ...params);
  const pay = async (): Promise<string> => {
    // The wallet learns of blocks later than the node, and would spend outputs of an undone one.
    await rpc('syncwithvalidationinterfacequeue');
    return rpc('sendtoaddress', address, 1);
  };
  const send = async (hex: string): Promise<string> => rpc('sendrawtransaction', hex);

  /** The outputs that a transaction in the mempool spends, as a deposit records them. */
  async function inputsOf(id: string): Promise<string[]> {
    const { vin } = await rpc('decoderawtransaction', await rpc('getrawtransaction', id));
    return vin.map((each: { txid: string; vout: number }) => `${each.txid}:${each.vout}`);
  }

  async function indexOf(id: string, own = address): Promise<number> {
    const { details } = await rpc('gettransaction', id);
    return details.find((each: { address: string }) => each.address === own).vout;
  }

  function lookUp(
    transactionHash: string,
    known: Partial<Pick<LookUpRequest, 'inputs' | 'ancestry' | 'blockHash'>> = {},
  ) {
    const request = { transactionHash, watch: watch(address), inputs: null, blockHash: null };
    return adapter.lookUp(bitcoind.node, { ...request, ...known });
  }

  test('matches the node’s probed abilities', async () => {
    expect(await adapter.probe(bitcoind.node)).toMatchObject({
      archive: isIndexed,
      pruneHeight: isIndexed ? null : 0,
    });
  });

  test('waits in the mempool, is in a block, and waits again when the block is undone', async () => {
    const id = await pay();
    const inputs = await inputsOf(id);
    const position = await indexOf(id);
    const transfer = { transactionHash: id, position, address, tokenAmount: 100_000_000n, inputs };
    expect(await lookUp(id)).toEqual({
      status: 'pending',
      transfers: [expect.objectContaining({ ...transfer, block: null })],
    });
    const [blockHash = ''] = await bitcoind.mine(1);
    const block = await adapter.readBlock(bitcoind.node, await rpc('getblockcount'));
    expect(block?.hash).toBe(blockHash);
    const { height, hash, time } = block ?? {};
    const included = {
      status: 'included',
      block,
      foreign: [],
      transfers: [expect.objectContaining({ ...transfer, block: { height, hash, time } })],
    };
    expect(await lookUp(id, { blockHash })).toEqual(included);
    expect(await lookUp(id)).toEqual(included);
    await rpc('invalidateblock', blockHash);
    expect(await lookUp(id, { blockHash, inputs })).toMatchObject({ status: 'pending' });
    const [other] = await bitcoind.mine(1);
    expect(await lookUp(id, { blockHash, inputs })).toMatchObject({
      status: 'included',
      block: { height, hash: other },
    });
  });

  test('costs two calls when its block is known', async () => {
    const id = await pay();
    const [blockHash = ''] = await bitcoind.mine(1);
    const { asked } = bitcoind.node;
    const before = asked.length;
    await lookUp(id, { blockHash });
    expect(asked.slice(before)).toEqual(['getrawtransaction', 'getblockheader']);
  });

  test('is found below later blocks, and after it was spent', async () => {
    const id = await pay();
    const [hash] = await bitcoind.mine(1);
    await send(await spendOutput(bitcoind, id, await indexOf(id), ELSEWHERE));
    await bitcoind.mine(3);
    expect(await lookUp(id)).toMatchObject({ status: 'included', block: { hash } });
  });

  test('is found among the last blocks even after all of it was spent', async () => {
    const coin = await pay();
    const id = await send(await spendOutput(bitcoind, coin, await indexOf(coin), address));
    const inputs = await inputsOf(id);
    const [hash] = await bitcoind.mine(1);
    await send(await spendOutput(bitcoind, id, 0, ELSEWHERE));
    await bitcoind.mine(3);
    expect(await lookUp(id, { inputs })).toMatchObject({ status: 'included', block: { hash } });
  });

  test('is replaced in the mempool: by one to another address, or with a higher fee', async () => {
    const id = await pay();
    const inputs = await inputsOf(id);
    const elsewhere = await send(await conflictWith(bitcoind, id, ELSEWHERE));
    expect(await lookUp(id, { inputs })).toEqual({ status: 'replaced' });
    expect(await lookUp(elsewhere)).toEqual({ status: 'pending', transfers: [] });

    const slow = await pay();
    const known = { inputs: await inputsOf(slow) };
    const { txid: bumped } = await rpc('bumpfee', slow, { fee_rate: 50 });
    expect(await lookUp(slow, known)).toEqual({ status: 'replaced' });
    expect(await lookUp(bumped)).toMatchObject({
      status: 'pending',
      transfers: [{ tokenAmount: 100_000_000n }],
    });
    await bitcoind.mine(1);
    expect(await lookUp(slow, known)).toEqual({ status: 'replaced' });
  });

  test('is replaced by another one in a block, before or after it was in one', async () => {
    const id = await pay();
    const inputs = await inputsOf(id);
    const conflict = await conflictWith(bitcoind, id, ELSEWHERE);
    await rpc('generateblock', ELSEWHERE, [conflict]);
    expect(await lookUp(id, { inputs })).toEqual({ status: 'replaced' });

    const placed = await pay();
    const other = await conflictWith(bitcoind, placed, ELSEWHERE);
    const [blockHash = ''] = await bitcoind.mine(1);
    await rpc('invalidateblock', blockHash);
    await rpc('generateblock', ELSEWHERE, [other]);
    // What it spends is in the block that was undone.
    expect(await lookUp(placed, { blockHash })).toEqual({ status: 'replaced' });
  });

  /** A payment and one that spends it, which pays as well, with what deposits record of the second one. */
  async function payTwice() {
    const parent = await pay();
    const signed = await spendOutput(bitcoind, parent, await indexOf(parent), address);
    const child = await send(signed);
    return {
      parent,
      child,
      known: { inputs: await inputsOf(child), ancestry: await inputsOf(parent) },
    };
  }

  test('is replaced with its parent, by one in the mempool or in a block', async () => {
    const { parent, child, known } = await payTwice();
    const fee = 0.01;
    const other = await send(await conflictWith(bitcoind, parent, ELSEWHERE, fee));
    expect(await rpc('getrawmempool')).not.toContain(child);
    expect(await lookUp(child, known)).toEqual({ status: 'replaced' });
    await bitcoind.mine(1);
    expect(await rpc('getrawmempool')).not.toContain(other);
    expect(await lookUp(child, known)).toEqual({ status: 'replaced' });

    const mined = await payTwice();
    const conflict = await conflictWith(bitcoind, mined.parent, ELSEWHERE);
    await rpc('generateblock', ELSEWHERE, [conflict]);
    await bitcoind.mine(3);
    expect(await lookUp(mined.child, mined.known)).toEqual({ status: 'replaced' });
    // Without the outputs that its parent has spent, this cannot be determined.
    const { inputs } = mined.known;
    expect(await lookUp(mined.child, { inputs })).toEqual({ status: 'unknown' });
  });

  test('is not replaced by its own parent, in the mempool or in a block', async () => {
    const { parent, child, known } = await payTwice();
    const { node } = bitcoind;
    /** Responses of a server that has everything but the child. */
    const lacking = {
      ...node,
      async batch(...[calls, options]: Parameters<typeof node.batch>) {
        const unknown = 'ab'.repeat(32);
        const others = calls.map(call => ({
          ...call,
          params: call.params.map(param => (param === child ? unknown : param)),
        }));
        const answers = await node.batch(others, options);
        if (calls[0]?.method !== 'gettxspendingprevout') return answers;
        return answers.map(list =>
          (list as { spendingtxid?: string }[]).filter(each => each.spendingtxid !== child),
        );
      },
    };
    const request = { transactionHash: child, watch: watch(address), blockHash: null, ...known };
    expect(await adapter.lookUp(lacking, request)).toEqual({ status: 'unknown' });
    await rpc('generateblock', ELSEWHERE, [parent]);
    expect(await adapter.lookUp(lacking, request)).toEqual({ status: 'unknown' });
    expect(await lookUp(child, known)).toMatchObject({ status: 'pending' });
  });

  test('is unknown when its block is undone and it was the reward', async () => {
    const [blockHash = ''] = await bitcoind.mine(1, address);
    const { tx } = await rpc('getblock', blockHash);
    expect(await lookUp(tx[0], { blockHash, inputs: [] })).toMatchObject({
      status: 'included',
      transfers: [{ maturity: 100 }],
    });
    await rpc('invalidateblock', blockHash);
    expect(await lookUp(tx[0], { blockHash, inputs: [] })).toEqual({ status: 'unknown' });
    expect(await lookUp(tx[0], { inputs: [] })).toEqual({ status: 'unknown' });
    await rpc('reconsiderblock', blockHash);
    expect(await lookUp(tx[0], { inputs: [] })).toMatchObject({ status: 'included' });
  });

  test('is unknown if it does not exist, which only an index can tell', async () => {
    const unknown = lookUp('ab'.repeat(32));
    if (isIndexed) expect(await unknown).toEqual({ status: 'unknown' });
    else {
      await expect(unknown).rejects.toThrow(NodeFailure);
      await expect(unknown).rejects.toThrow('plain: cannot say whether transaction abab');
    }
  });

  test('is replaced only if a block has the other one, whatever the node claims', async () => {
    const id = await pay();
    const inputs = await inputsOf(id);
    const { node } = bitcoind;
    const lagging = {
      ...node,
      async batch(...[calls, options]: Parameters<typeof node.batch>) {
        const answers = await node.batch(calls, options);
        const method = calls[0]?.method;
        // Two backends: one does not have the transaction yet, the other has spent its coins in a block.
        if (method === 'gettxout') return answers.map(() => null);
        const [, verbose] = calls[0]?.params ?? [];
        const isAsked = method === 'getrawtransaction' && calls[0]?.params[0] === id && verbose;
        if (isAsked) return node.batch([{ method, params: ['ab'.repeat(32), true] }], options);
        return method === 'gettxspendingprevout' ? [[]] : answers;
      },
    };
    const request = { transactionHash: id, watch: watch(address), inputs, blockHash: null };
    expect(await adapter.lookUp(lagging, request)).toEqual({ status: 'unknown' });
  });

  test('starts again when a block arrives during the look-up', async () => {
    const id = await pay();
    const inputs = await inputsOf(id);
    // No longer in the mempool, and not yet in a block.
    let isFirst = true;
    const { node } = bitcoind;
    const racing = {
      ...node,
      async batch(...[calls, options]: Parameters<typeof node.batch>) {
        if (!isFirst || calls[0]?.method !== 'getrawtransaction') return node.batch(calls, options);
        isFirst = false;
        const nothing = { method: 'getrawtransaction', params: ['ab'.repeat(32), true] };
        const answers = await node.batch([nothing], options);
        await bitcoind.mine(1);
        return answers;
      },
    };
    const request = { transactionHash: id, watch: watch(address), inputs, blockHash: null };
    expect(await adapter.lookUp(racing, request)).toMatchObject({ status: 'included' });
    expect(isFirst).toBe(false);
  });

  // Moves the node's clock, so it comes after the others.
  test('is unknown when it was evicted: it may come back', async () => {
    const id = await pay();
    const known = { inputs: await inputsOf(id) };
    const child = await send(await spendOutput(bitcoind, id, await indexOf(id), address));
    const ofChild = { inputs: await inputsOf(child) };
    await rpc('setmocktime', Math.floor(Date.now() / 1_000) + 337 * 3_600);
    await rpc('sendtoaddress', ELSEWHERE, 1);
    expect(await rpc('getrawmempool')).not.toContain(id);
    expect(await lookUp(id, known)).toEqual({ status: 'unknown' });
    // What the child spends has never been in a block.
    expect(await lookUp(child, ofChild)).toEqual({ status: 'unknown' });
  });

  // A node with an index keeps every block.
  if (isIndexed) return;

  test('is in a block that the node has deleted', async () => {
    const id = await pay();
    const [blockHash = ''] = await bitcoind.mine(1);
    await send(await spendOutput(bitcoind, id, await indexOf(id), ELSEWHERE));
    const height: number = await rpc('getblockcount');
    await bitcoind.mine(600, ELSEWHERE);
    await rpc('pruneblockchain', height + 300);
    await expect(lookUp(id, { blockHash })).rejects.toThrow(PrunedBlock);
    const request = {
      from: height,
      to: height,
      watch: watch(address),
      undoableFrom: 0,
      parentHash: null,
    };
    await expect(adapter.scan(bitcoind.node, request)).rejects.toThrow(PrunedBlock);
    await expect(lookUp(id)).rejects.toThrow(PrunedBlock);
    const { pruneHeight } = await adapter.probe(bitcoind.node);
    expect(pruneHeight).toBeGreaterThan(height);
  });
});
