import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChainAdapter } from '#chains/adapter.ts';
import { createBitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import {
  BITCOIND,
  BITCOIND_MISSING,
  type Bitcoind,
  startBitcoind,
} from '../../helpers/bitcoind.ts';
import { conflictWith, ELSEWHERE, newAddress, spendOutput, watch } from './spend.ts';

const missing = BITCOIND === undefined;

describe.skipIf(missing)(missing ? BITCOIND_MISSING : 'the mempool of a real node', () => {
  let bitcoind: Bitcoind;
  let address: string;

  beforeAll(async () => {
    bitcoind = await startBitcoind();
    address = await newAddress(bitcoind);
  });
  afterAll(() => bitcoind?.stop());

  /** Lists the mempool, then reads it; by default what is found is recorded. */
  async function read(adapter: ChainAdapter, recorded = true) {
    await adapter.readHeads(bitcoind.node, null, true);
    return readListed(adapter, recorded);
  }

  async function readListed(adapter: ChainAdapter, recorded = true) {
    const reading = await adapter.readMempool?.(bitcoind.node, watch(address));
    if (recorded) reading?.recorded();
    expect(reading?.complete).toBe(true);
    return reading?.transfers.map(each => each.transactionHash);
  }

  async function scanNewest(adapter: ChainAdapter) {
    const to: number = await bitcoind.rpc('getblockcount');
    const request = { from: to, to, watch: watch(address), undoableFrom: 0, parentHash: null };
    const { transfers } = await adapter.scan(bitcoind.node, request);
    return transfers.map(each => each.transactionHash);
  }

  const pay = (amount = 1): Promise<string> => bitcoind.rpc('sendtoaddress', address, amount);

  test('reports a transfer, again until it is recorded, and after a restart', async () => {
    const adapter = createBitcoinAdapter();
    expect(await read(adapter)).toEqual([]);
    const id = await pay(1.5);
    await adapter.readHeads(bitcoind.node, null, true);
    const reading = await adapter.readMempool?.(bitcoind.node, watch(address));
    const { vin, vout } = await bitcoind.rpc('getrawtransaction', id, true);
    expect(reading?.transfers).toEqual([
      {
        blockchainId: 'btc-test',
        transactionHash: id,
        position: vout.findIndex((each: { value: number }) => each.value === 1.5),
        address,
        tokenAmount: 150_000_000n,
        block: null,
        inputs: vin.map((each: { txid: string; vout: number }) => `${each.txid}:${each.vout}`),
        maturity: 1,
      },
    ]);
    expect(await read(adapter, false)).toEqual([id]);
    expect(await read(adapter)).toEqual([id]);
    expect(await read(adapter)).toEqual([]);
    expect(await read(createBitcoinAdapter())).toEqual([id]);
  });

  test('requests only new transactions', async () => {
    const adapter = createBitcoinAdapter();
    await read(adapter);
    const { asked } = bitcoind.node;
    const countAsked = () => asked.filter(method => method === 'getrawtransaction').length;
    const before = countAsked();
    await read(adapter);
    expect(countAsked()).toBe(before);
    const id = await pay();
    expect(await read(adapter)).toEqual([id]);
    expect(countAsked()).toBe(before + 1);
  });

  test('does not repeat what a scanned block has reported, unless the block is undone', async () => {
    const adapter = createBitcoinAdapter();
    await read(adapter);
    const id = await pay();
    await adapter.readHeads(bitcoind.node, null, true);
    expect(adapter.isInMempool?.(id)).toBe(true);
    const [hash] = await bitcoind.mine(1);
    expect(await scanNewest(adapter)).toContain(id);
    expect(adapter.isInMempool?.(id)).toBe(false);
    // Listed before the block came; with an index the node would still return it.
    expect(await readListed(adapter)).toEqual([]);
    expect(await read(adapter)).toEqual([]);
    await bitcoind.rpc('invalidateblock', hash);
    expect(await read(adapter)).toContain(id);
    await bitcoind.rpc('reconsiderblock', hash);
  });

  test('reports one that was known before its block was undone, too', async () => {
    const adapter = createBitcoinAdapter();
    const id = await pay();
    expect(await read(adapter)).toEqual([id]);
    const [hash] = await bitcoind.mine(1);
    expect(await scanNewest(adapter)).toEqual([id]);
    await bitcoind.rpc('invalidateblock', hash);
    expect(await read(adapter)).toEqual([id]);
    await bitcoind.rpc('reconsiderblock', hash);
  });

  test('tolerates a transaction that vanishes between list and request', async () => {
    const adapter = createBitcoinAdapter();
    await read(adapter);
    const gone = await pay();
    await adapter.readHeads(bitcoind.node, null, true);
    const conflict = await conflictWith(bitcoind, gone, ELSEWHERE);
    await bitcoind.rpc('sendrawtransaction', conflict);
    const stays = await pay();
    expect(await readListed(adapter)).toEqual([]);
    expect(await read(adapter)).toEqual([stays]);
  });

  test('reports, with its time of arrival, a transaction whose block was too old to scan', async () => {
    const adapter = createBitcoinAdapter();
    await read(adapter);
    const id = await pay();
    const { time } = await bitcoind.rpc('getmempoolentry', id);
    await bitcoind.rpc('setmocktime', time + 600);
    const later = await pay();
    await bitcoind.rpc('setmocktime', 0);
    await adapter.readHeads(bitcoind.node, null, true);
    const reading = await adapter.readMempool?.(bitcoind.node, watch(address), 60_000);
    reading?.recorded();
    expect(reading).toMatchObject({ complete: true, transfers: [{ transactionHash: later }] });
    expect(adapter.isInMempool?.(id)).toBe(true);
    await bitcoind.mine(1);
    const to: number = await bitcoind.rpc('getblockcount');
    const request = { from: to, to, watch: watch(address), undoableFrom: 0, parentHash: null };
    const { transfers } = await adapter.scan(bitcoind.node, request);
    const enteredAt = new Date(time * 1_000);
    expect(transfers.find(each => each.transactionHash === id)).toMatchObject({ enteredAt });
  });

  test('reports a child of an unconfirmed transaction', async () => {
    const adapter = createBitcoinAdapter();
    await bitcoind.mine(1);
    expect(await read(adapter)).toEqual([]);
    const own = await newAddress(bitcoind);
    const parent: string = await bitcoind.rpc('sendtoaddress', own, 3);
    const { details } = await bitcoind.rpc('gettransaction', parent);
    const { vout } = details.find((each: { address: string }) => each.address === own);
    const signed = await spendOutput(bitcoind, parent, vout, address);
    const child = await bitcoind.rpc('sendrawtransaction', signed);
    expect(await read(adapter)).toEqual([child]);
  });

  test('reports what unconfirmed ancestors spend, with one call per generation', async () => {
    const adapter = createBitcoinAdapter();
    await bitcoind.mine(1);
    await read(adapter);
    const own = await newAddress(bitcoind);
    const grandparent: string = await bitcoind.rpc('sendtoaddress', own, 2);
    const { details } = await bitcoind.rpc('gettransaction', grandparent);
    const { vout } = details.find((each: { address: string }) => each.address === own);
    const spend = async (id: string, index: number, to: string): Promise<string> =>
      bitcoind.rpc('sendrawtransaction', await spendOutput(bitcoind, id, index, to));
    const parent = await spend(grandparent, vout, own);
    const child = await spend(parent, 0, address);
    const plain = await pay();
    const { vin } = await bitcoind.rpc('getrawtransaction', grandparent, true);
    const oldest = vin.map((each: { txid: string; vout: number }) => `${each.txid}:${each.vout}`);
    await adapter.readHeads(bitcoind.node, null, true);
    const before = bitcoind.node.requests;
    const reading = await adapter.readMempool?.(bitcoind.node, watch(address));
    // One for the four transactions, and two for the ancestors of the child.
    expect(bitcoind.node.requests - before).toBe(3);
    const told = new Map(reading?.transfers.map(each => [each.transactionHash, each]));
    expect(told.get(child)).toMatchObject({
      inputs: [`${parent}:0`],
      ancestry: [`${grandparent}:${vout}`, ...oldest],
    });
    expect(told.get(plain)).not.toHaveProperty('ancestry');
  });

  test('is undone by a block with a conflicting transaction, and reported again when that block is undone', async () => {
    const adapter = createBitcoinAdapter();
    await bitcoind.mine(1);
    await read(adapter);
    const [gone, stays] = [await pay(), await pay()];
    const hex = await bitcoind.rpc('getrawtransaction', gone);
    expect((await read(adapter))?.toSorted()).toEqual([gone, stays].toSorted());
    const conflict = await conflictWith(bitcoind, gone, ELSEWHERE);
    const dependents = await Promise.all(
      [gone, stays].map(async id => {
        const { vin } = await bitcoind.rpc('getrawtransaction', id, true);
        const [{ txid, vout }] = vin;
        return { id, inputs: [`${txid}:${vout}`] };
      }),
    );
    const { hash } = await bitcoind.rpc('generateblock', ELSEWHERE, [conflict]);
    const to: number = await bitcoind.rpc('getblockcount');
    const request = { from: to, to, watch: watch(address), undoableFrom: 0, parentHash: null };
    const { conflicts } = await adapter.scan(bitcoind.node, { ...request, dependents });
    expect([...(conflicts ?? [])]).toEqual([gone]);
    expect(adapter.isInMempool?.(gone)).toBe(false);
    expect(adapter.isInMempool?.(stays)).toBe(true);
    await bitcoind.rpc('invalidateblock', hash);
    // It replaces the other one before anybody has listed the mempool without it.
    await bitcoind.rpc('prioritisetransaction', gone, 0, 10_000_000);
    await bitcoind.rpc('sendrawtransaction', hex);
    expect(await read(adapter)).toEqual([gone]);
    await bitcoind.rpc('reconsiderblock', hash);
  });

  // Moves the node's clock, so it comes last.
  test('reports an evicted transaction when it comes back', async () => {
    const adapter = createBitcoinAdapter();
    const id = await pay();
    const raw: string = await bitcoind.rpc('getrawtransaction', id);
    expect(await read(adapter)).toContain(id);
    // The mempool expires transactions after two weeks. The next arrival makes the node check.
    await bitcoind.rpc('setmocktime', Math.floor(Date.now() / 1_000) + 337 * 3_600);
    const other = await pay();
    expect(await bitcoind.rpc('getrawmempool')).toEqual([other]);
    expect(await read(adapter)).toEqual([other]);
    await bitcoind.rpc('sendrawtransaction', raw);
    expect(await read(adapter)).toEqual([id]);
  });
});
