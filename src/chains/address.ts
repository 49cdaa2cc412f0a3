import type { NetworkEnvironment, NetworkFamily } from '../database/tables.ts';
import { parseBitcoinAddress } from './bitcoin-address.ts';
import { parseEvmAddress } from './evm-address.ts';
import { InvalidAddress } from './invalid-address.ts';
import { parseSolanaAddress } from './solana-address.ts';
import { parseTronAddress } from './tron-address.ts';

export { InvalidAddress };

// The longest address accepted below is 62 characters (P2WSH, P2TR). The rest is room to say what was
// pasted instead: base58 decoding is quadratic, so nothing longer is looked at.
const MAX_LENGTH = 128;

/**
 * Reads a deposit address as an operator gives it and answers its canonical spelling: EIP-55 for the
 * EVM families, lower case for bech32, as given for base58. Text alone decides; nothing is asked of the
 * chain. Throws InvalidAddress, whose reason can be shown to the operator.
 *
 * Only Bitcoin writes its network into the address; elsewhere `environment` makes no difference.
 */
export function parseAddress(
  family: NetworkFamily,
  environment: NetworkEnvironment,
  text: string,
): string {
  refuseUnreadableText(text);
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

function refuseUnreadableText(text: string): void {
  if (text.length > MAX_LENGTH) {
    throw new InvalidAddress('the text is too long to be an address');
  }
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidAddress('the address is empty');
  // Not trimmed silently: what is stored must be what the operator saw and checked.
  if (trimmed !== text) {
    throw new InvalidAddress('there is white space before or after the address');
  }
  if (/\s/.test(text)) throw new InvalidAddress('there is white space inside the address');
  refuseLookAlikes(text);
  if (/[:?]/.test(text)) {
    throw new InvalidAddress('this is a payment link: give the address alone');
  }
}

// Every address here is plain ASCII; a Cyrillic "а" or a zero-width space looks right and is not.
function refuseLookAlikes(text: string): void {
  const strange = /[^\x21-\x7e]/u.exec(text);
  if (strange === null) return;
  const code = strange[0].codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  throw new InvalidAddress(
    `character ${strange.index + 1} is not a plain letter or digit (U+${code}): it may only look like one`,
  );
}
