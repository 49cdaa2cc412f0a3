import { failure } from '../responses.ts';
import { transferTo, type WatchedAddress } from '../transfer.ts';
import { findNamed, readEach } from '../unreadable.ts';
import { byHeight, hashOrNull, recipientOf, toTransaction, type WholeBlock } from './blocks.ts';
import { type Found, type Hit, type HitReader, type Reading, readHits } from './hits.ts';
import { tokenTransfers, watchedLogs } from './transfer-logs.ts';
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
        // Without a value it is no transfer, but for instance a call of a contract.
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
      const { tokenAmount } = hit;
      return [transferTo(hit.watched, { transactionHash, position: 0, tokenAmount, block })];
    },
  });
}

const spellNative = ({ address }: WatchedAddress) => address.slice(2).toLowerCase();

/**
 * Transfers of tokens in the transactions of these logs. A receipt with fewer transfers than there are logs counts
 * as unreadable.
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
      if (watchedLogs(receipt, watched).length < count) {
        throw failure(node, 'a receipt lacks a transfer that is among the logs');
      }
      return tokenTransfers(node, receipt, block, watched);
    },
  });
}
