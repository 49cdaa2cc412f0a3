import { NodeFailure } from '../../nodes/node.ts';
import type { Block, WatchedAddress } from '../adapter.ts';
import { findNamed, readEach } from '../unreadable.ts';
import { hashOrNull, recipientOf, toTransaction, type WholeBlock } from './blocks.ts';
import { type Found, type Hit, type HitReader, type Reading, readHits } from './hits.ts';
import { countTransfers, tokenTransfers } from './transfer-logs.ts';
import type { Watched } from './watched.ts';

/**
 * Top-level transfers of the native asset, each with its receipt.
 * @throws NodeFailure
 */
export function readNative(
  reading: Reading,
  blocks: readonly WholeBlock[],
  { native }: Watched,
): Promise<Found> {
  const { node, unreadable } = reading;
  const hits = blocks.flatMap(({ height, hash: blockHash, transactions }) =>
    readEach(
      transactions,
      (each): (Hit & { tokenAmount: bigint })[] => {
        const watched = native.get(recipientOf(node, each) ?? '');
        if (watched === undefined) return [];
        const { hash: transactionHash, value: tokenAmount } = toTransaction(node, each);
        // A call of a contract moves nothing, and is no transfer.
        if (tokenAmount === 0n) return [];
        const { network, address } = watched;
        const arrival = { blockchainId: network.id, transactionHash, address, tokenAmount };
        return [{ ...arrival, watched, height, blockHash }];
      },
      (each, detail) => {
        const watched = findNamed(each, native.values(), spellNative);
        unreadable.push({ transactionHash: hashOrNull(each, 'hash'), height, watched, detail });
      },
    ),
  );
  const arrivals = new Map(hits.map(hit => [hit.transactionHash, hit]));
  return readHits(reading, hits, {
    readBlocks: async () => byHeight(blocks),
    toTransfers({ succeeded, transactionHash }, block) {
      const hit = arrivals.get(transactionHash);
      if (!succeeded || hit === undefined) return [];
      const { blockchainId, address, tokenAmount } = hit;
      const transfer = { blockchainId, transactionHash, position: 0, address, tokenAmount, block };
      return [{ ...transfer, inputs: null, maturity: 1 }];
    },
  });
}

const spellNative = ({ address }: WatchedAddress) => address.slice(2).toLowerCase();

/**
 * Transfers of tokens in the transactions of these logs. A receipt that has fewer transfers than the logs
 * have told cannot be read.
 * @throws NodeFailure
 */
export function readTokens(
  reading: Reading,
  hits: readonly Hit[],
  watched: Watched,
  readBlocks: HitReader['readBlocks'],
): Promise<Found> {
  const { node } = reading;
  return readHits(reading, hits, {
    readBlocks,
    toTransfers(receipt, block, count) {
      if (countTransfers(receipt, watched) < count) {
        throw new NodeFailure(`${node.label}: a receipt lacks a transfer that is among the logs`);
      }
      return tokenTransfers(node, receipt, block, watched);
    },
  });
}

export function byHeight(blocks: readonly Block[]): Map<number, Block> {
  return new Map(blocks.map(block => [block.height, block]));
}
