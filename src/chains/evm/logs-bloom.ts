import { keccak_256 } from '@noble/hashes/sha3.js';
import { addressTopic } from './transfer-logs.ts';
import type { Watched } from './watched.ts';

/** 256 bytes. */
const BLOOM = /^0x[0-9a-f]{512}$/i;
/**
 * Most watched addresses for which the filter is worth checking. In six consecutive blocks of Ethereum (23,839,610 to
 * 615, 163 to 357 transactions), 51 to 76 per cent of the bits are set: an absent address seems to be in one block of
 * four, and at least one of ten absent addresses in 19 of 20.
 */
const ADDRESSES_MAXIMUM = 10;

/**
 * Whether a block may have a transfer of a watched token to a watched address, by the bloom filter of its logs.
 * @param bloom `logsBloom` of the header, proven by the block's hash.
 */
export function mayPayWatched(bloom: unknown, { tokens }: Watched): boolean {
  if (typeof bloom !== 'string' || !BLOOM.test(bloom)) return true;
  const addresses = new Set([...tokens.values()].flatMap(own => [...own.keys()]));
  if (addresses.size > ADDRESSES_MAXIMUM) return true;
  const bytes = Buffer.from(bloom.slice(2), 'hex');
  return [...tokens].some(
    ([contract, own]) =>
      mayContain(bytes, contract) &&
      [...own.keys()].some(address => mayContain(bytes, addressTopic(address))),
  );
}

/** Whether the three bits of a value are set (Ethereum yellow paper, 4.3.1). */
function mayContain(bloom: Buffer, value: string): boolean {
  const hash = Buffer.from(keccak_256(Buffer.from(value.slice(2), 'hex')));
  return [0, 2, 4].every(at => {
    const bit = hash.readUInt16BE(at) % 2_048;
    return ((bloom[255 - (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0;
  });
}
