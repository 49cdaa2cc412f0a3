import { randomBytes } from 'node:crypto';
import { bech32 } from '@scure/base';
import { createBitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { doubleHash, rootOf, serialize, serializeBlock } from '../test/chains/bitcoin/serialize.ts';
import { type Finding, sideBySide, VoidRun } from './measure.ts';

/** Transactions of a full block. */
const TRANSACTIONS = 4_000;
/** Addresses of a small shop, and of wallets that have had a hundred thousand payments in 90 days. */
const FEW = 100;
const MANY = 100_000;

/** What a block costs by how many addresses are watched: wallets have one for each payment. */
export async function measureWatched(): Promise<Finding[]> {
  const node = nodeWith(fullBlock());
  const lists = [FEW, FEW, MANY].map(size => Array.from({ length: size }, newAddress));
  const scans = lists.map(watch => {
    const adapter = createBitcoinAdapter();
    return async () => {
      const { transfers } = await adapter.scan(node, {
        from: 1,
        to: 1,
        watch,
        parentHash: null,
        undoableFrom: 1,
      });
      if (transfers.length > 0) throw new VoidRun('a random address was paid to');
    };
  });
  const [few = 0, control = 0, many = 0] = await sideBySide(scans, { rounds: 15, repeats: 1 });
  return [
    {
      subject: `a block of ${TRANSACTIONS} transactions, ${MANY} addresses of ${FEW}`,
      measured: `${few.toFixed(0)} and ${many.toFixed(0)} ms, another ${FEW} ${control.toFixed(0)} ms`,
      value: many / few,
      goal: { relation: '<=', value: 1.2 },
    },
  ];
}

function newAddress(): WatchedAddress {
  const address = bech32.encode('bc', [0, ...bech32.toWords(randomBytes(20))]);
  return { network: { id: 'btc', contract: null }, address };
}

/** Transactions of two inputs with witnesses and two outputs, as most are, behind a coinbase. */
function fullBlock() {
  const payment = () => ({
    version: 2,
    inputs: [0, 1].map(index => ({
      hash: randomBytes(32),
      index,
      script: Buffer.alloc(0),
      witness: [randomBytes(71), randomBytes(33)],
    })),
    outputs: [0, 1].map(() => ({
      value: 10_000n,
      script: Buffer.concat([Buffer.from([0, 20]), randomBytes(20)]),
    })),
    lockTime: 0,
  });
  const coinbase = {
    ...payment(),
    inputs: [{ hash: Buffer.alloc(32), index: 0xffff_ffff, script: Buffer.alloc(4), witness: [] }],
  };
  const drafts = [coinbase, ...Array.from({ length: TRANSACTIONS - 1 }, payment)];
  const leaves = drafts.map(draft => doubleHash(serialize(draft, false)));
  return serializeBlock(
    drafts.map(draft => serialize(draft)),
    rootOf(leaves),
  );
}

/** A node that has the block at height 1, and answers at once. */
function nodeWith({ hex, hash }: { readonly hex: string; readonly hash: string }): Node {
  const batch = async (calls: readonly { readonly method: string }[]) =>
    calls.map(({ method }) => (method === 'getblockhash' ? hash : hex));
  return { id: 'bench', label: 'bench', batch } as unknown as Node;
}
