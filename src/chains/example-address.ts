import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, bech32 } from '@scure/base';
import type { NetworkFamily } from '#storage/database/network-tables.ts';
import { base58check } from './base58-text.ts';
import { parseEvmAddress } from './evm/address.ts';

/** Bytes of a hash of a public key: no key is known that has a random one. */
const HASH_BYTES = 20;
/** Of Solana's addresses, which are public keys themselves; the private key is not kept. */
const SEED_BYTES = 32;

/** A valid address on the test networks of a family that nobody has the key of: what is sent to it is lost. */
export function exampleAddress(family: NetworkFamily): string {
  switch (family) {
    case 'bitcoin':
      // BIP-173, a P2WPKH address: version 0 and the hash of a key.
      return bech32.encode('tb', [0, ...bech32.toWords(randomBytes(HASH_BYTES))]);
    case 'ethereum':
    case 'bnb':
    case 'avalanche':
      return parseEvmAddress(family, `0x${randomBytes(HASH_BYTES).toString('hex')}`);
    case 'solana':
      return base58.encode(ed25519.getPublicKey(randomBytes(SEED_BYTES)));
    case 'tron':
      return base58check.encode(Buffer.concat([Buffer.of(0x41), randomBytes(HASH_BYTES)]));
  }
}
