import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import type { NetworkFamily } from '#storage/database/network-tables.ts';

/** Bytes of a Solana signature, which stands for its transaction. */
const SIGNATURE_BYTES = 64;
/** Bytes of the hash everywhere else. */
const HASH_BYTES = 32;

const HEX = /^[0-9a-f]{64}$/i;
const PREFIXED_HEX = /^0x[0-9a-f]{64}$/i;
/** 64 bytes in base58: bounded first, since decoding is quadratic. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/**
 * Reads a transaction hash as the chain writes it. No chain is queried.
 * @returns Its one spelling: hex in lower case, with 0x on EVM chains and without on Bitcoin and Tron;
 * base58 on Solana. undefined for text that is no hash of such a chain.
 */
export function parseTransactionHash(family: NetworkFamily, text: string): string | undefined {
  switch (family) {
    case 'bitcoin':
    case 'tron':
      return HEX.test(text) ? text.toLowerCase() : undefined;
    case 'ethereum':
    case 'bnb':
    case 'avalanche':
      return PREFIXED_HEX.test(text) ? text.toLowerCase() : undefined;
    case 'solana':
      return BASE58.test(text) && base58.decode(text).length === SIGNATURE_BYTES ? text : undefined;
  }
}

/** A random hash that belongs to no transaction, for simulations. */
export function randomTransactionHash(family: NetworkFamily): string {
  if (family === 'solana') return base58.encode(randomBytes(SIGNATURE_BYTES));
  const hex = randomBytes(HASH_BYTES).toString('hex');
  return family === 'bitcoin' || family === 'tron' ? hex : `0x${hex}`;
}
