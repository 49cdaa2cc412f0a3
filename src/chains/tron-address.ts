import type { AddressProblemArguments } from '#errors/refusals/address-problems.ts';
import { decodeBase58Check } from './base58-text.ts';
import { InvalidAddress } from './invalid-address.ts';

// Tron's protocol document, "Account": 0x41 and the last 20 bytes of the key's Keccak-256, on the main
// network, Shasta and Nile alike.
const VERSION = 0x41;
const PAYLOAD_LENGTH = 21;
const TEXT_LENGTH = 34;

// Addresses copied from a token's page instead of a wallet; tokens sent to a contract by mistake are lost.
const NOT_A_WALLET: ReadonlyMap<string, AddressProblemArguments> = new Map([
  ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', ['tron-token-contract', { token: 'USDT' }]],
  ['TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', ['tron-token-contract', { token: 'USDC' }]],
  ['TUpMhErZL2fhh4sVNULAbNKLokS4GjC1F4', ['tron-token-contract', { token: 'TUSD' }]],
  ['TPYmHEhy5n8TCEfYGqW2rPxsghSfzghPDn', ['tron-token-contract', { token: 'USDD' }]],
  ['TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR', ['wrapped-coin-contract', { coin: 'TRX' }]],
  // java-tron, config.conf, genesis.block: the account "Blackhole".
  ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', ['tron-blackhole']],
]);

/**
 * Parses a T address: base58check, version 0x41. The rules are the same on main and test networks.
 * @returns The address unchanged.
 * @throws InvalidAddress
 */
export function parseTronAddress(text: string): string {
  refuseOtherForms(text);
  const payload = decodeBase58Check(text, PAYLOAD_LENGTH);
  if (payload[0] !== VERSION) throw new InvalidAddress('other-coin');
  refuseUnspendable(text, payload.subarray(1));
  return text;
}

function refuseOtherForms(text: string): void {
  // Nodes and explorers show this form as well, but it has no checksum.
  if (/^(0x)?41[0-9a-f]{40}$/i.test(text)) throw new InvalidAddress('tron-hexadecimal');
  if (!text.startsWith('T')) throw new InvalidAddress('tron-start-wrong');
  if (text.length !== TEXT_LENGTH) {
    throw new InvalidAddress('tron-length-wrong', { length: text.length, expected: TEXT_LENGTH });
  }
}

function refuseUnspendable(text: string, account: Uint8Array): void {
  // Zero is a burn address; the small numbers above it are precompiled contracts, as on Ethereum, and Tron's own ones
  // begin at 0x1000001 (java-tron, PrecompiledContracts).
  if (account.subarray(0, 16).every(byte => byte === 0)) {
    throw new InvalidAddress('tron-reserved-address');
  }
  const what = NOT_A_WALLET.get(text);
  if (what !== undefined) throw new InvalidAddress(...what);
}
