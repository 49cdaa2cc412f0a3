import { sha256 } from '@noble/hashes/sha2.js';

/** Bitcoin's hash of blocks, transactions and Merkle nodes. */
export function doubleSha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = sha256.create();
  for (const part of parts) hash.update(part);
  return sha256(hash.digest());
}

/** A hash as people write it: hex of its bytes in reverse order. */
export function showHash(hash: Uint8Array): string {
  return Buffer.from(hash).reverse().toString('hex');
}
