import { sha256 } from '@noble/hashes/sha2.js';
import { base58, createBase58check } from '@scure/base';
import { InvalidAddress } from './invalid-address.ts';

// The alphabet leaves out 0, O, I and l, which are easily confused (Bitcoin Core, src/base58.h).
const FOREIGN_CHARACTER = /[^1-9A-HJ-NP-Za-km-z]/;

/** Base58 of a payload with the first four bytes of its double SHA-256. */
export const base58check = createBase58check(sha256);

/** @throws InvalidAddress naming the first character outside the alphabet. */
export function decodeBase58(text: string): Uint8Array {
  const foreign = FOREIGN_CHARACTER.exec(text);
  if (foreign !== null) {
    const [character] = foreign;
    throw new InvalidAddress('foreign-character', { position: foreign.index + 1, character });
  }
  return base58.decode(text);
}

/**
 * Decodes base58check: a payload and the first four bytes of its double SHA-256.
 * @param payloadLength Expected length of the payload, in bytes.
 * @returns The payload.
 * @throws InvalidAddress
 */
export function decodeBase58Check(text: string, payloadLength: number): Uint8Array {
  if (decodeBase58(text).length !== payloadLength + 4) throw new InvalidAddress('length-wrong');
  try {
    return base58check.decode(text);
  } catch {
    throw new InvalidAddress('checksum-mistyped');
  }
}
