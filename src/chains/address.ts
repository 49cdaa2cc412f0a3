import type { NetworkEnvironment, NetworkFamily } from '#storage/database/network-tables.ts';
import { parseBitcoinAddress } from './bitcoin/address.ts';
import { parseEvmAddress, parseEvmContract } from './evm/address.ts';
import { InvalidAddress } from './invalid-address.ts';
import { refusePrivateKey } from './private-key.ts';
import { parseSolanaAddress } from './solana-address.ts';
import { parseTronAddress } from './tron-address.ts';

export { InvalidAddress };

// The longest valid address has 62 characters (P2WSH, P2TR). Texts up to this length are still parsed, so
// that the reason can name what was pasted instead; base58 decoding is quadratic, hence a limit.
const LENGTH_MAXIMUM = 128;

/**
 * Parses a deposit address and returns its canonical spelling: EIP-55 for the EVM families, lower case
 * for bech32, unchanged for base58. Checks the text only; no chain is queried.
 *
 * Only Bitcoin addresses depend on `environment`; the others do not encode their network.
 * @throws InvalidAddress with a reason that may be shown to the operator.
 */
export function parseAddress(
  family: NetworkFamily,
  environment: NetworkEnvironment,
  text: string,
): string {
  refuseMalformedText(text);
  switch (family) {
    case 'bitcoin':
      return parseBitcoinAddress(environment, text);
    case 'ethereum':
    case 'bnb':
    case 'avalanche':
      return parseEvmAddress(family, text);
    case 'solana':
      return parseSolanaAddress(text);
    case 'tron':
      return parseTronAddress(text);
  }
}

/**
 * Parses the address of a token's contract and returns its canonical spelling. Unlike a deposit address
 * it need not belong to a wallet.
 * @throws InvalidAddress with a reason that may be shown to the operator.
 */
export function parseContract(
  family: NetworkFamily,
  environment: NetworkEnvironment,
  text: string,
): string {
  if (family === 'bitcoin' || family === 'solana' || family === 'tron') {
    return parseAddress(family, environment, text);
  }
  refuseMalformedText(text);
  return parseEvmContract(family, text);
}

function refuseMalformedText(text: string): void {
  refusePrivateKey(text);
  if (text.length > LENGTH_MAXIMUM) throw new InvalidAddress('text-too-long');
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidAddress('address-empty');
  // Not trimmed silently: the stored text must be the one that the operator checked.
  if (trimmed !== text) throw new InvalidAddress('space-around');
  if (/\s/.test(text)) throw new InvalidAddress('space-inside');
  refuseLookAlikes(text);
  if (/[:?]/.test(text)) throw new InvalidAddress('payment-link');
}

// Every valid address is printable ASCII. A Cyrillic "а" looks like a Latin one, a zero-width space like
// nothing.
function refuseLookAlikes(text: string): void {
  const strange = /[^\x21-\x7e]/u.exec(text);
  if (strange === null) return;
  const code = strange[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  throw new InvalidAddress('look-alike', { position: strange.index + 1, codePoint: `U+${code}` });
}
