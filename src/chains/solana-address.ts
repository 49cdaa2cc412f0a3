import { ed25519 } from '@noble/curves/ed25519.js';
import type { AddressProblemArguments } from '#errors/refusals/address-problems.ts';
import { decodeBase58 } from './base58-text.ts';
import { InvalidAddress } from './invalid-address.ts';

const program = (name: string): AddressProblemArguments => ['solana-program', { program: name }];

// Funds sent to a mint or a program are lost. Many of these are valid ed25519 keys and would pass the curve
// check below; the others are listed so that the reason can name them.
const NOT_A_WALLET: ReadonlyMap<string, AddressProblemArguments> = new Map([
  ['11111111111111111111111111111111', program('System')],
  ['TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', program('Token')],
  ['TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', program('Token-2022')],
  ['ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', program('Associated Token')],
  ['MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', program('Memo')],
  ['Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo', ['solana-first-memo-program']],
  ['metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s', program('Token Metadata')],
  ['SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf', program('Squads')],
  ['Stake11111111111111111111111111111111111111', program('Stake')],
  ['Vote111111111111111111111111111111111111111', program('Vote')],
  ['Config1111111111111111111111111111111111111', program('Config')],
  ['ComputeBudget111111111111111111111111111111', program('Compute Budget')],
  ['AddressLookupTab1e1111111111111111111111111', program('Address Lookup Table')],
  ['BPFLoaderUpgradeab1e11111111111111111111111', ['solana-program-loader']],
  ['SysvarRent111111111111111111111111111111111', ['solana-system-variable']],
  ['SysvarC1ock11111111111111111111111111111111', ['solana-system-variable']],
  ['1nc1nerator11111111111111111111111111111111', ['solana-incinerator']],
  ['So11111111111111111111111111111111111111112', ['solana-wrapped-mint']],
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', ['solana-mint', { token: 'USDC' }]],
  ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', ['solana-devnet-mint', { token: 'USDC' }]],
  ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', ['solana-mint', { token: 'USDT' }]],
]);

/**
 * Parses the address of a wallet (the owner, never a token account): an ed25519 public key of 32 bytes in
 * base58. The rules are the same on mainnet and devnet.
 * @returns The address unchanged: base58 has one spelling.
 * @throws InvalidAddress
 */
export function parseSolanaAddress(text: string): string {
  const bytes = decodeBase58(text);
  if (bytes.length === 64) throw new InvalidAddress('solana-key-or-signature');
  if (bytes.length !== 32) throw new InvalidAddress('length-wrong');
  const what = NOT_A_WALLET.get(text);
  if (what !== undefined) throw new InvalidAddress(...what);
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
  if (point === undefined) throw new InvalidAddress('solana-off-curve');
  if (point.isSmallOrder() || !point.isTorsionFree()) {
    throw new InvalidAddress('solana-key-impossible');
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
