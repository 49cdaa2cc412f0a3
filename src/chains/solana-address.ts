import { ed25519 } from '@noble/curves/ed25519.js';
import { decodeBase58 } from './base58-text.ts';
import { InvalidAddress } from './invalid-address.ts';

// A mint or a program never gives back what is sent to it. Many of these are valid ed25519 keys, so the
// curve check below would let them through; the others are here to be called by their names.
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
 * Reads the address of a wallet (the owner, never a token account): 32 bytes in base58 that are an
 * ed25519 public key. Answered as given: base58 has one spelling. Same for mainnet and devnet.
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
  refuseWithoutKey(bytes);
  return text;
}

/**
 * Off the curve means derived by a program. A multisig vault (Squads) is such an address and could
 * be paid, but so are every associated token account and the multisig's own settings account, which sit
 * beside it in the same wallets; what is sent to those is lost, and the text alone cannot tell them
 * apart. Many payers' wallets refuse off-curve owners anyway (TokenOwnerOffCurveError in spl-token).
 * Hence refused, as Solana's "Verify Address" advises where the account has not been looked up.
 *
 * On the curve, a key made from a secret lies in the prime-order subgroup (RFC 8032, 5.1.5: a multiple of
 * the base point). Solana addresses have no checksum, and this stands in for one: a mistyped address
 * is on the curve every second time, but in the subgroup only every sixteenth.
 */
function refuseWithoutKey(bytes: Uint8Array): void {
  const point = decompress(bytes);
  if (point === undefined) {
    throw new InvalidAddress(
      "this is not a wallet's address: it is a token account, another program's account (a multisig vault among them), or mistyped",
    );
  }
  if (point.isSmallOrder() || !point.isTorsionFree()) {
    throw new InvalidAddress('no wallet can have this address: a character is mistyped');
  }
}

function decompress(bytes: Uint8Array) {
  try {
    return ed25519.Point.fromBytes(bytes);
  } catch {
    return undefined;
  }
}
