import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import { scriptOf } from '#chains/bitcoin/script.ts';
import { type Node, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import { plainNode } from '../../helpers/plain-node.ts';
import { nonsense, RUNS } from '../nonsense.ts';
import {
  type Draft,
  doubleHash,
  reversed,
  rootOf,
  serialize,
  serializeBlock,
} from './serialize.ts';
import { watch } from './spend.ts';

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const SCRIPT = Buffer.from(scriptOf(SHOP), 'hex');
const HEIGHT = 5;

const input = (hash: Uint8Array, index: number, script = Uint8Array.of(1, 1)) => ({
  hash,
  index,
  script,
  witness: [],
});
const COINBASE: Draft = {
  version: 2,
  lockTime: 0,
  inputs: [input(new Uint8Array(32), 0xffff_ffff)],
  outputs: [{ value: 5_000_000_000n, script: Uint8Array.of(0x51) }],
};
const pay = (amount: number, index: number): Draft => ({
  version: 2,
  lockTime: 0,
  inputs: [input(new Uint8Array(32).fill(index + 1), index)],
  outputs: [{ value: BigInt(amount), script: SCRIPT }],
});
const idOf = (draft: Draft) => doubleHash(serialize(draft, false));

/** Bytes in place of a transaction, as of a kind that the service does not know. */
interface Sent {
  readonly id: Buffer;
  readonly hex: unknown;
}

/** A node with a block of these transactions, which are also in its mempool. */
function nodeOf(sent: readonly Sent[]): Node {
  const bytes = sent.map(({ hex }) => Buffer.from(typeof hex === 'string' ? hex : '', 'hex'));
  const { hex, hash } = serializeBlock(bytes, rootOf(sent.map(({ id }) => id)));
  const answer = (method: string, [first, verbosity]: readonly unknown[]): unknown => {
    switch (method) {
      case 'getblockhash':
      case 'getbestblockhash':
        return hash;
      case 'getblockchaininfo':
        return { chain: 'regtest', bestblockhash: hash };
      case 'getblockheader':
        return verbosity === false
          ? hex.slice(0, 160)
          : { hash, height: HEIGHT, time: 1, previousblockhash: '07'.repeat(32), confirmations: 1 };
      case 'getblock':
        return verbosity === 0
          ? hex
          : { hash, tx: sent.map(each => ({ txid: reversed(each.id), hex: each.hex })) };
      case 'getrawmempool':
        return sent.slice(1).map(({ id }) => reversed(id));
      case 'getrawtransaction': {
        const found = sent.find(({ id }) => reversed(id) === first);
        if (found === undefined)
          return new RpcError(-5, 'No such mempool or blockchain transaction');
        return verbosity === true
          ? { hex: found.hex, blockhash: hash, confirmations: 1, in_active_chain: true }
          : found.hex;
      }
      default:
        return new RpcError(-32_601, method);
    }
  };
  return {
    ...plainNode('http://127.0.0.1:1'),
    call: async (method, params) => answer(method, params),
    batch: async calls => calls.map(({ method, params }) => answer(method, params)),
  };
}

const request = { from: HEIGHT, to: HEIGHT, watch: watch(SHOP), undoableFrom: 0, parentHash: null };
const toSent = (draft: Draft): Sent => ({ id: idOf(draft), hex: serialize(draft).toString('hex') });

const drafts = fc
  .array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 5 })
  .map(amounts => [COINBASE, ...amounts.map(pay)].map(toSent));

test('one unreadable transaction keeps no other from being credited', async () => {
  await fc.assert(
    fc.asyncProperty(drafts, fc.nat(), nonsense, async (sent, nth, value) => {
      const place = 1 + (nth % (sent.length - 1));
      const id = reversed(sent[place]?.id ?? Buffer.alloc(0));
      const node = nodeOf(sent.with(place, { id: idOf(pay(1, 99)), hex: value }));
      const own = reversed(idOf(pay(1, 99)));
      const clean = await createBitcoinAdapter().scan(nodeOf(sent), request);
      expect(clean).toMatchObject({ unreadable: [] });
      const others = clean.transfers.filter(({ transactionHash }) => transactionHash !== id);
      const { transfers, unreadable } = await createBitcoinAdapter().scan(node, request);
      expect(transfers.map(each => [each.transactionHash, each.tokenAmount])).toEqual(
        others.map(each => [each.transactionHash, each.tokenAmount]),
      );
      expect(unreadable).toMatchObject([{ transactionHash: own, height: HEIGHT }]);

      const adapter = createBitcoinAdapter();
      await adapter.readHeads(node, null, true);
      const reading = await adapter.readMempool?.(node, watch(SHOP));
      expect(reading?.transfers).toHaveLength(others.length);
      expect(reading?.unreadable).toMatchObject([{ transactionHash: own, height: null }]);
      reading?.recorded();
      const again = await adapter.readMempool?.(node, watch(SHOP));
      expect(again).toMatchObject({ transfers: [], unreadable: [], complete: true });
    }),
    RUNS,
  );
});

test('a mempool transaction that the node refuses is a finding, and stops no other', async () => {
  const [refused, other] = [toSent(pay(7, 1)), toSent(pay(8, 2))];
  const whole = nodeOf([toSent(COINBASE), refused, other]);
  const own = reversed(refused.id);
  const node = alteredNode(whole, (method, [id], result) =>
    method === 'getrawtransaction' && id === own ? new RpcError(-32_603, 'internal') : result,
  );
  const adapter = createBitcoinAdapter();
  await adapter.readHeads(node, null, true);
  const reading = await adapter.readMempool?.(node, watch(SHOP));
  expect(reading).toMatchObject({
    transfers: [{ tokenAmount: 8n }],
    unreadable: [{ transactionHash: own }],
    complete: true,
  });
});

test('a transaction of an unknown kind is reported by its script, and as such when it is looked up', async () => {
  const known = toSent(pay(7, 1));
  const odd = { id: idOf(pay(8, 2)), hex: `ff${SCRIPT.toString('hex')}ff` };
  const node = nodeOf([toSent(COINBASE), known, odd]);
  const adapter = createBitcoinAdapter();
  const { transfers, unreadable } = await adapter.scan(node, request);
  expect(transfers).toMatchObject([{ tokenAmount: 7n }]);
  const transactionHash = reversed(odd.id);
  expect(unreadable).toMatchObject([{ transactionHash, watched: watch(SHOP) }]);
  const lookUp = { transactionHash, watch: watch(SHOP), inputs: null, blockHash: null };
  expect(await adapter.lookUp(node, lookUp)).toMatchObject({ status: 'unreadable' });
});

test('an ancestor that cannot be read keeps no descendant from being reported', async () => {
  const parents = [pay(1, 7), pay(2, 8)].map(toSent);
  const child: Draft = {
    version: 2,
    lockTime: 0,
    inputs: parents.map(({ id }) => input(id, 0)),
    outputs: [{ value: 9n, script: SCRIPT }],
  };
  const [odd, known] = parents;
  const sent = [
    toSent(COINBASE),
    { id: odd?.id ?? Buffer.alloc(0), hex: 'ff' },
    ...(known === undefined ? [] : [known]),
    toSent(child),
  ];
  const adapter = createBitcoinAdapter();
  const node = nodeOf(sent);
  await adapter.readHeads(node, null, true);
  const reading = await adapter.readMempool?.(node, watch(SHOP));
  const told = reading?.transfers.find(({ tokenAmount }) => tokenAmount === 9n);
  expect(told?.ancestry).toEqual([`${'09'.repeat(32)}:8`]);
});

test('a block whose transactions do not match its header is a fault of the node', async () => {
  const sent = [toSent(COINBASE), toSent(pay(7, 1)), { id: idOf(pay(8, 2)), hex: 'ff' }];
  const other = reversed(idOf(pay(9, 3)));
  for (const list of [null, {}, [], [{ txid: other, hex: 'ff' }], [42]]) {
    const node = alteredNode(nodeOf(sent), (method, params, result) =>
      method === 'getblock' && params[1] === 2 ? { tx: list } : result,
    );
    await expect(createBitcoinAdapter().scan(node, request)).rejects.toThrow(NodeFailure);
  }
});
