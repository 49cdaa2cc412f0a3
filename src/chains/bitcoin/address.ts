import { decodeBase58Check } from '../base58-text.ts';
import { InvalidAddress } from '../invalid-address.ts';
import { parseSegwitAddress } from './segwit-address.ts';

// Version bytes of P2PKH and P2SH (Bitcoin Core, src/kernel/chainparams.cpp). Testnet, signet and regtest
// use the same ones.
const NETWORK_OF_VERSION: ReadonlyMap<number | undefined, 'production' | 'test'> = new Map([
  [0x00, 'production'],
  [0x05, 'production'],
  [0x6f, 'test'],
  [0xc4, 'test'],
]);

// One version byte and a 20-byte hash.
const PAYLOAD_LENGTH = 21;

// Vanity texts with a checksum, made by hand: nobody has found a key for one, and coins sent there are burnt.
const BURN_ADDRESSES: ReadonlySet<string> = new Set([
  '1BitcoinEaterAddressDontSendf59kuE',
  '1CounterpartyXXXXXXXXXXXXXXXUWLpVr',
]);

/**
 * Parses a P2PKH, P2SH, P2WPKH, P2WSH or P2TR address: base58check for the first two, BIP-173 and
 * BIP-350 for the others.
 * @returns Base58 unchanged, segwit in lower case.
 * @throws InvalidAddress
 */
export function parseBitcoinAddress(environment: 'production' | 'test', text: string): string {
  if (/^(bc|tb|bcrt)1/i.test(text)) return parseSegwitAddress(environment, text);
  // First characters that the version bytes above encode to.
  if (/^[13mn2]/.test(text)) return parseBase58Address(environment, text);
  throw new InvalidAddress(
    environment === 'production' ? 'bitcoin-start-wrong' : 'bitcoin-test-start-wrong',
  );
}

function parseBase58Address(environment: 'production' | 'test', text: string): string {
  const payload = decodeBase58Check(text, PAYLOAD_LENGTH);
  const network = NETWORK_OF_VERSION.get(payload[0]);
  if (network === undefined) throw new InvalidAddress('other-coin');
  if (network !== environment) {
    throw new InvalidAddress(network === 'test' ? 'bitcoin-on-testnet' : 'bitcoin-on-mainnet');
  }
  // No key or script with this hash is known: coins sent there are burnt.
  if (BURN_ADDRESSES.has(text) || payload.subarray(1).every(byte => byte === 0)) {
    throw new InvalidAddress('burn-address');
  }
  return text;
}
