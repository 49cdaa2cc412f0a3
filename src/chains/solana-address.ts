import { ed25519 } from '@noble/curves/ed25519.js';
import { decodeBase58 } from './base58-text.ts';
import { InvalidAddress } from './invalid-address.ts';

// Funds sent to a mint or a program are lost. Many of these are valid ed25519 keys and would pass the curve
// check below; the others are listed so that the reason can name them.
const NOT_A_WALLET: ReadonlyMap<string, string> = new Map([
  ['11111111111111111111111111111111', 'the System program'],
  ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'the Token program'],
  ['TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', 'the Token-2022 program'],
  ['ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', 'the Associated Token program'],
  ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', 'the Memo program'],
  ['Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', 'the first Memo program'],
  ['metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s', 'the Token Metadata program'],
  ['SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf', 'the Squads program'],
  ['Stake11111111111111111111111111111111111111', 'the Stake program'],
  ['Vote111111111111111111111111111111111111111', 'the Vote program'],
  ['Config1111111111111111111111111111111111111', 'the Config program'],
  ['ComputeBudget111111111111111111111111111111', 'the Compute Budget program'],
  ['AddressLookupTab1e1111111111111111111111111', 'the Address Lookup Table program'],
  ['BPFLoaderUpgradeab1e11111111111111111111111', 'the program loader'],
  ['SysvarRent111111111111111111111111111111111', 'a system variable'],
  ['SysvarC1ock11111111111111111111111111111111', 'a system variable'],
  ['1nc1nerator11111111111111111111111111111111', 'the incinerator that burns tokens'],
  ['So11111111111111111111111111111111111111112', 'the mint of wrapped SOL'],
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'the mint of USDC'],
  ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'the mint of USDC on devnet'],
  ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'the mint of USDT'],
]);

/**
 * Parses the address of a wallet (the owner, never a token account): an ed25519 public key of 32 bytes in
 * base58. The rules are the same on mainnet and devnet.
 * @returns The address unchanged: base58 has one spelling.
 * @throws InvalidAddress
 */
export function parseSolanaAddress(text: string): string {
  const bytes = decodeBase58(text);
  if (bytes.length === 64) {
    throw new InvalidAddress('this is a private key or a transaction signature, not an address');
  }
  if (bytes.length !== 32) {
    throw new InvalidAddress('the length is wrong: characters are missing or there are too many');
  }
  const what = NOT_A_WALLET.get(text);
  if (what !== undefined) throw new InvalidAddress(`this is ${what}, not a wallet`);
  refuseOffCurve(bytes);
  return text;
}

/**
 * Refuses addresses that no wallet's key has.
 *
 * An address off the curve was derived by a program. A multisig vault (Squads) is one and could be paid,
 * but so are associated token accounts and the multisig's settings account, which the same wallets show.
 * Funds sent to those are lost, and the text does not show which kind it is. Many wallets refuse to pay
 * off-curve owners anyway (TokenOwnerOffCurveError in spl-token). Solana's "Verify Address" advises to
 * refuse them if the account has not been looked up.
 *
 * On the curve, a key made from a secret lies in the prime-order subgroup (RFC 8032, 5.1.5: a multiple of
 * the base point). Solana addresses have no checksum; this check replaces one: of mistyped addresses,
 * half are on the curve, but only one in sixteen is in the subgroup.
 */
function refuseOffCurve(bytes: Uint8Array): void {
  const point = pointOf(bytes);
  if (point === undefined) {
    throw new InvalidAddress(
      "this is not a wallet's address: it is a token account, another program's account (a multisig vault among them), or mistyped",
    );
  }
  if (point.isSmallOrder() || !point.isTorsionFree()) {
    throw new InvalidAddress('no wallet can have this address: a character is mistyped');
  }
}

/** The point of the curve that these bytes encode; undefined if they encode none. */
export function pointOf(bytes: Uint8Array) {
  try {
    return ed25519.Point.fromBytes(bytes);
  } catch {
    return undefined;
  }
}
