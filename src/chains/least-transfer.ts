import type { Network } from '#storage/database/network-tables.ts';
import { scriptOf } from './bitcoin/script.ts';
import { InvalidAddress } from './invalid-address.ts';

/** Bytes of a transaction's output besides its script: the amount, and the script's length. */
const OUTPUT_BYTES = 9;
/** Bytes that spending an output takes (Bitcoin Core, `GetDustThreshold` in src/policy/policy.cpp). */
const SPENDING_BYTES = { legacy: 148, witness: 67 };
/** Satoshi a byte, Bitcoin Core's `DUST_RELAY_TX_FEE`. */
const DUST_FEE = 3;
/** Nodes may be configured with a higher fee, so the result stays well above the default. */
const MARGIN = 2;

/** A script of the type whose output costs most to spend. */
const P2PKH = scriptOf('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa');

/**
 * Minimum balance of an account without data; a smaller transfer to a new account is refused. (128 + 0 bytes) × 3,480
 * lamports a byte-year × 2 years (agave, sdk/rent).
 */
const RENT_EXEMPT_LAMPORTS = 890_880n;

/**
 * The least that a wallet can send to an address in one transfer, in the asset's smallest unit. On Bitcoin twice the
 * dust limit of its output's type, below which nodes relay no transaction: 1,092 satoshi for P2PKH, 1,080 for P2SH, 588 for
 * P2WPKH, 660 for P2WSH and P2TR. On Solana, the minimum balance if the account does not exist yet.
 * @param address In its canonical spelling.
 * @param isFunded Whether something has arrived there already.
 */
export function leastTransfer(
  { family, id, chain }: Pick<Network, 'family' | 'id' | 'chain'>,
  address: string,
  isFunded: boolean,
): bigint {
  if (family === 'bitcoin') return leastTo(address);
  // The network of a native asset has its chain's ID.
  return family === 'solana' && id === chain && !isFunded ? RENT_EXEMPT_LAMPORTS : 1n;
}

/** Transfers to any address are recorded, so one that cannot be parsed counts as the type with the highest limit. */
function leastTo(address: string): bigint {
  try {
    return leastOutput(scriptOf(address));
  } catch (error) {
    if (error instanceof InvalidAddress) return leastOutput(P2PKH);
    throw error;
  }
}

/** @param script Hex. */
function leastOutput(script: string): bigint {
  const bytes = Buffer.from(script, 'hex');
  // A version, as the opcode of a number, and a program of 2 to 40 bytes (BIP-141).
  const [version = 0, length] = bytes;
  const isWitness = length === bytes.length - 2 && (version === 0 || version > 0x50);
  const spending = isWitness ? SPENDING_BYTES.witness : SPENDING_BYTES.legacy;
  return BigInt((OUTPUT_BYTES + bytes.length + spending) * DUST_FEE * MARGIN);
}
