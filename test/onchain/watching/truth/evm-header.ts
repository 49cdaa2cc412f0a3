import { keccak_256 } from '@noble/hashes/sha3.js';
import { headerHash } from '#chains/evm/header-hash.ts';
import { type HashedReceipt, receiptsRoot } from '#chains/evm/receipts-root.ts';
import { type EvmWire, hex } from './evm.ts';
import { digits, type Family, type MadeBlock, type MadeTransaction } from './generated-chain.ts';

const zeros = (bytes: number) => `0x${'00'.repeat(bytes)}`;

/** The header fields that a block's hash is made of, keyed by the block's list of transactions. */
const headers = new WeakMap<object, Readonly<Record<string, string>>>();

export const EVM: Family = {
  seal({ height, parentHash, time, transactions }, salt) {
    const own = transactions as readonly MadeTransaction<EvmWire>[];
    const header = {
      parentHash,
      sha3Uncles: zeros(32),
      miner: zeros(20),
      stateRoot: zeros(32),
      transactionsRoot: zeros(32),
      receiptsRoot: receiptsRoot(own.map((_, index) => provenPartOf(own, index))),
      logsBloom: bloomOf(own),
      difficulty: '0x0',
      number: hex(height),
      gasLimit: hex(30_000_000),
      gasUsed: hex(gasUntil(own, own.length)),
      timestamp: hex(time),
      extraData: `0x${digits(salt)}`,
      mixHash: zeros(32),
      nonce: zeros(8),
      baseFeePerGas: '0x1',
    };
    headers.set(transactions, header);
    return headerHash(header) ?? '';
  },
  // The tolerance of nodes, and a second for rounding.
  skewMs: 16_000,
  isSparse: false,
  nothing: zeros(32),
};

export function headerOf({ transactions }: MadeBlock): Readonly<Record<string, string>> {
  return headers.get(transactions) ?? {};
}

export function gasOf({ wire }: MadeTransaction<EvmWire>): number {
  return wire.logs.length === 0 ? 21_000 : 60_000;
}

/** Gas of the first `count` transactions of a block. */
export function gasUntil(own: readonly MadeTransaction<EvmWire>[], count: number): number {
  return own.slice(0, count).reduce((sum, each) => sum + gasOf(each), 0);
}

/** The part of a receipt that the header commits to. */
function provenPartOf(own: readonly MadeTransaction<EvmWire>[], index: number): HashedReceipt {
  const wire = own[index]?.wire;
  return {
    type: 2,
    succeeded: wire?.isFailed === false,
    logsBloom: bloomOf(own.slice(index, index + 1)),
    cumulativeGasUsed: gasUntil(own, index + 1),
    logs: (wire?.logs ?? []).map(({ contract, topics, data }) => ({
      address: contract,
      topics,
      data,
    })),
  };
}

/** The bloom filter of the transactions' logs. */
export function bloomOf(own: readonly MadeTransaction<EvmWire>[]): string {
  const bloom = Buffer.alloc(256);
  for (const { contract, topics } of own.flatMap(({ wire }) => wire.logs)) {
    for (const value of [contract, ...topics]) {
      const hash = Buffer.from(keccak_256(Buffer.from(value.slice(2), 'hex')));
      for (const at of [0, 2, 4]) {
        const bit = hash.readUInt16BE(at) % 2_048;
        const place = 255 - (bit >> 3);
        bloom[place] = (bloom[place] ?? 0) | (1 << (bit & 7));
      }
    }
  }
  return `0x${bloom.toString('hex')}`;
}
