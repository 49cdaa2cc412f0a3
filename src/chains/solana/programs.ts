import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { pointOf } from '../solana-address.ts';

export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/**
 * The associated token account of an owner, where wallets send tokens to: an address that the program
 * derives from owner and mint, the first one off the curve (spl-associated-token-account).
 */
export function associatedAccount(owner: string, mint: string): string {
  const seeds = [owner, TOKEN_PROGRAM, mint].map(text => base58.decode(text));
  const program = base58.decode(ASSOCIATED_TOKEN_PROGRAM);
  for (let bump = 255; bump >= 0; bump--) {
    const address = sha256(
      concatBytes(...seeds, Uint8Array.of(bump), program, utf8ToBytes('ProgramDerivedAddress')),
    );
    if (pointOf(address) === undefined) return base58.encode(address);
  }
  throw new Error(`no address is derived from ${owner} and ${mint}`);
}
