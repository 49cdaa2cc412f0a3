import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { LaggingNode, type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { ChainTransfer } from '#chains/transfer.ts';
import { createTronAdapter } from '#chains/tron/adapter.ts';
import { alteredNode, replaceNth } from '../../helpers/altered-node.ts';
import { plainNode } from '../../helpers/plain-node.ts';
import {
  sendByContract,
  sendTokens,
  sendTrc10,
  sendTrx,
  TronNode,
  type TronTransaction,
} from '../../helpers/tron.ts';
import { nonsense, RUNS } from '../nonsense.ts';

const OWN = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const OTHER = 'TVjsyZ7fYF3qLF6BQgPmTEZy1xrNNyVAAA';
const USDT = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
const TRX = { network: { id: 'tron-test', contract: null }, address: OWN };
const TOKEN = { network: { id: 'tron-usdt-test', contract: USDT }, address: OWN };
/** The smallest integer that a double cannot hold. */
const LARGE = 2n ** 53n + 1n;

const adapter = createTronAdapter(chainOf('tron-test'));
let tron: TronNode;
let node: Node;
let stop: () => Promise<void>;

beforeAll(async () => {
  tron = new TronNode(Date.now);
  stop = await tron.start();
  node = plainNode(tron.url);
});
afterAll(() => stop());

/** Scans the newest block. */
function scan(asked: Node, height = tron.height, undoableFrom = height) {
  const watch = [TRX, TOKEN];
  const request = { from: height, to: height, watch, undoableFrom, parentHash: null };
  return adapter.scan(asked, request);
}

/** Mines a block of these transactions, and of unwatched ones of each kind. */
function mine(...transactions: readonly TronTransaction[]): number {
  tron.pool.push(...transactions, sendTrx(OTHER, 1), sendByContract(OTHER, 2));
  tron.mine();
  return tron.height;
}

test('amounts of any size of what is not watched are not read', async () => {
  const trx = sendTrx(OWN, 7);
  const token = sendTokens({ contract: USDT, to: OWN, amount: 8n });
  mine(
    ...[trx, token, sendTrc10(OTHER, LARGE), sendTrc10(OWN, LARGE), sendTrx(OTHER, LARGE)],
    ...[sendByContract(OTHER, LARGE), sendByContract(OWN, LARGE, { tokenId: '1005416' })],
  );
  const { transfers, unreadable } = await scan(node);
  expect(transfers).toMatchObject([
    { transactionHash: trx.id, tokenAmount: 7n },
    { transactionHash: token.id, tokenAmount: 8n },
  ]);
  expect(unreadable).toEqual([]);
});

test('amounts of TRX that a double cannot hold are exact, of an account and of a contract', async () => {
  const [plain, internal, trc10] = [
    sendTrx(OWN, LARGE),
    sendByContract(OWN, LARGE + 2n),
    sendTrc10(OWN, LARGE),
  ];
  mine(plain, internal, trc10);
  expect((await scan(node)).transfers.map(({ tokenAmount }) => tokenAmount)).toEqual([
    LARGE,
    LARGE + 2n,
  ]);
  const lookUp = ({ id }: TronTransaction) =>
    adapter.lookUp(node, { transactionHash: id, watch: [TRX], inputs: null, blockHash: null });
  expect(await lookUp(plain)).toMatchObject({ transfers: [{ tokenAmount: LARGE }] });
  expect(await lookUp(internal)).toMatchObject({ transfers: [{ tokenAmount: LARGE + 2n }] });
  expect(await lookUp(trc10)).toMatchObject({ status: 'included', transfers: [] });
});

type Site = 'transaction' | 'info' | 'log' | 'receipt';

/** The node with one element of its responses replaced, and the number of elements. */
function spoil(site: Site, nth: number, replace: (element: unknown) => unknown) {
  const counter = replaceNth(nth, replace);
  const inBlock = (block: unknown) => {
    const { transactions = [], ...rest } = block as { transactions?: unknown[] };
    return { ...rest, transactions: transactions.map(counter.change) };
  };
  const altered = alteredNode(node, (method, _, result) => {
    const name = method.split('/').at(-1);
    if (site === 'transaction' && name === 'getblockbynum') return inBlock(result);
    if (site === 'transaction' && name === 'getblockbylimitnext') {
      return { block: (result as { block: unknown[] }).block.map(inBlock) };
    }
    const isList =
      (site === 'info' && name === 'gettransactioninfobyblocknum') ||
      (site === 'log' && name === 'eth_getLogs');
    if (isList) return (result as unknown[]).map(counter.change);
    const isReceipt = site === 'receipt' && name === 'eth_getTransactionReceipt';
    return isReceipt ? counter.change(result) : result;
  });
  return { altered, counter };
}

/** Whether a transfer is read from this element of its transaction. */
const isFrom = (site: Site, { blockchainId, position }: ChainTransfer) =>
  blockchainId === 'tron-test'
    ? site === (position === 0 ? 'transaction' : 'info')
    : site === 'log' || site === 'receipt';

const drawn = fc.array(
  fc.record({
    kind: fc.constantFrom('trx', 'trc-10', 'contract', 'token' as const),
    to: fc.constantFrom(OWN, OWN, OTHER),
    amount: fc.integer({ min: 1, max: 1_000_000 }),
  }),
  { maxLength: 4 },
);
type Drawn = typeof drawn extends fc.Arbitrary<(infer T)[]> ? T : never;

function toTransaction({ kind, to, amount }: Drawn): TronTransaction {
  if (kind === 'trx') return sendTrx(to, amount);
  if (kind === 'trc-10') return sendTrc10(to, amount);
  if (kind === 'contract') return sendByContract(to, amount);
  return sendTokens({ contract: USDT, to, amount: BigInt(amount) });
}

const keys = (transfers: readonly ChainTransfer[]) =>
  transfers.map(each => `${each.transactionHash} ${each.position} ${each.tokenAmount}`).sort();

test.each([
  ['the newest blocks', false],
  ['solid blocks', true],
])('in %s one unreadable element keeps no other from being credited', async (_, isSolid) => {
  const sites = fc.constantFrom('transaction', 'info', 'log', 'receipt' as const);
  await fc.assert(
    fc.asyncProperty(drawn, sites, fc.nat(), nonsense, async (payments, site, nth, value) => {
      const height = mine(...payments.map(toTransaction));
      if (isSolid) tron.mine(20);
      const undoableFrom = isSolid ? tron.solid + 1 : height;
      const clean = await scan(node, height, undoableFrom);
      expect(clean.unreadable).toEqual([]);
      const count = spoil(site, -1, each => each);
      await scan(count.altered, height, undoableFrom);
      const { seen } = count.counter;
      fc.pre(seen > 0);
      let own: unknown;
      const { altered } = spoil(site, nth % seen, each => {
        const { txID, id, transactionHash = '' } = each as Record<string, string>;
        own = txID ?? id ?? transactionHash?.slice(2);
        return value;
      });
      const { transfers, unreadable } = await scan(altered, height, undoableFrom);
      const others = clean.transfers.filter(
        each => each.transactionHash !== own || !isFrom(site, each),
      );
      expect(keys(transfers)).toEqual(keys(others));
      expect(unreadable).toHaveLength(1);
    }),
    RUNS,
  );
});

test('an unreadable element that names a watched address is a finding for its transaction and that address', async () => {
  const trx = sendTrx(OWN, 5);
  mine(trx, sendTrx(OWN, 6));
  const { altered } = spoil('transaction', 0, each => ({ ...(each as object), ret: 'nonsense' }));
  const { transfers, unreadable } = await scan(altered);
  expect(transfers).toMatchObject([{ tokenAmount: 6n }]);
  expect(unreadable).toMatchObject([
    { transactionHash: trx.id, height: tron.height, watched: [{ address: OWN }] },
  ]);
  const token = sendTokens({ contract: USDT, to: OWN, amount: 7n });
  mine(token, sendTokens({ contract: USDT, to: OWN, amount: 8n }));
  const log = spoil('log', 0, each => ({ ...(each as object), blockHash: 'nonsense' }));
  expect((await scan(log.altered)).unreadable).toMatchObject([
    {
      transactionHash: token.id,
      height: tron.height,
      watched: [{ network: { id: 'tron-usdt-test' }, address: OWN }],
    },
  ]);
});

test('a response that is no list is a fault of the node, never "nothing came"', async () => {
  mine(sendByContract(OWN, 5), sendTokens({ contract: USDT, to: OWN, amount: 7n }));
  for (const wrong of [{}, null, 'nonsense', 42]) {
    for (const path of ['gettransactioninfobyblocknum', 'getblockbylimitnext', 'eth_getLogs']) {
      const altered = alteredNode(node, (method, _, result) =>
        method.endsWith(path)
          ? path === 'getblockbylimitnext'
            ? { block: wrong }
            : wrong
          : result,
      );
      await expect(scan(altered)).rejects.toThrow(NodeFailure);
    }
  }
});

const withoutReceipt = (hash: string) =>
  alteredNode(node, (method, [asked], result) =>
    method === 'eth_getTransactionReceipt' && asked === `0x${hash}` ? null : result,
  );

test('a token transfer whose receipt stays missing is a finding in the scan, and only it is unreadable', async () => {
  const paid = sendTokens({ contract: USDT, to: OWN, amount: 8n });
  mine(paid, sendTokens({ contract: USDT, to: OWN, amount: 9n }));
  const transactionHash = paid.id;
  const altered = withoutReceipt(transactionHash);
  await expect(scan(altered)).rejects.toThrow(LaggingNode);
  await expect(scan(altered)).rejects.toThrow(LaggingNode);
  const { transfers, unreadable } = await scan(altered);
  expect(transfers.map(({ tokenAmount }) => tokenAmount)).toEqual([9n]);
  expect(unreadable).toMatchObject([{ transactionHash, watched: [{ address: OWN }] }]);
  const request = { transactionHash, watch: [TOKEN], inputs: null, blockHash: null };
  expect(await adapter.lookUp(altered, request)).toMatchObject({ status: 'unreadable' });
  expect(await adapter.lookUp(node, request)).toMatchObject({
    status: 'included',
    transfers: [{ tokenAmount: 8n }],
  });
});
