import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { AddressProblemArguments } from '#errors/refusals/address-problems.ts';
import { InvalidAddress } from '../invalid-address.ts';

type EvmFamily = 'ethereum' | 'bnb' | 'avalanche';

const NETWORK_NAME = {
  ethereum: 'Ethereum',
  bnb: 'BNB Smart Chain',
  avalanche: 'Avalanche C-Chain',
} as const satisfies Record<EvmFamily, string>;

const contract = (token: string, network: string): AddressProblemArguments => [
  'evm-token-contract',
  { token, network },
];

// Addresses copied from a token's page instead of a wallet; tokens sent to a contract by mistake are lost.
// One list for all EVM networks: on none of them is there a key to any of these.
const NOT_A_WALLET: ReadonlyMap<string, AddressProblemArguments> = new Map([
  ['0xdAC17F958D2ee523a2206206994597C13D831ec7', contract('USDT', 'Ethereum')],
  ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', contract('USDC', 'Ethereum')],
  ['0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7', contract('USDT', 'Avalanche')],
  ['0x55d398326f99059fF775485246999027B3197955', contract('USDT', 'BNB Smart Chain')],
  ['0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', contract('USDC', 'Avalanche')],
  ['0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d', contract('USDC', 'BNB Smart Chain')],
  ['0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', contract('USDC', 'Sepolia')],
  ['0x6B175474E89094C44Da98b954EedeAC495271d0F', contract('DAI', 'Ethereum')],
  // Staking of Ethereum (ethereum/consensus-specs, DEPOSIT_CONTRACT_ADDRESS).
  ['0x00000000219ab540356cBB839Cbe05303d7705Fa', ['ethereum-deposit-contract']],
  ['0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', ['wrapped-coin-contract', { coin: 'ETH' }]],
  ['0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c', ['wrapped-coin-contract', { coin: 'BNB' }]],
  ['0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7', ['wrapped-coin-contract', { coin: 'AVAX' }]],
  // ERC-7528: represents the native coin where a token address is expected.
  ['0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE', ['native-coin-placeholder']],
  ['0xdEAD000000000000000042069420694206942069', ['known-burn-address']],
]);

// Precompiled contracts use the last two bytes, from 1 up (EIP-1352; 0x100 is P-256 of RIP-7212), and so do the
// system contracts of BNB Smart Chain and the burn address 0x…dEaD. Avalanche has its own ones, and burns its fees,
// at 0x01, 0x02 and 0x03 with the last byte (coreth, reservedRanges). No key is known with 17 zero bytes in its address.
const RESERVED = /^0x(0{36}|0[123]0{36}[0-9a-f]{2}$)/i;
/** Burn addresses that people make up: one digit throughout, or a word again and again. */
const REPEATED = /^0x((.)\2{39}|(dead){10})$/i;

/**
 * Parses a 0x address. Text in one case carries no checksum and is accepted; mixed case must match
 * EIP-55. The rules are the same on main and test networks.
 * @returns The address in the mixed case of EIP-55.
 * @throws InvalidAddress
 */
export function parseEvmAddress(family: EvmFamily, text: string): string {
  const address = parseEvmContract(family, text);
  refuseUnspendable(address);
  return address;
}

/**
 * Parses the address of a contract, which is written like any other.
 * @throws InvalidAddress
 */
export function parseEvmContract(family: EvmFamily, text: string): string {
  refuseOtherForms(family, text);
  const digits = text.slice(2);
  refuseMalformedDigits(digits);
  const address = toChecksumCase(digits.toLowerCase());
  if (isMixedCase(digits) && address !== text) throw new InvalidAddress('evm-checksum-wrong');
  return address;
}

function refuseOtherForms(family: EvmFamily, text: string): void {
  if (text.startsWith('0x')) return;
  if (family === 'avalanche' && /^([xpc]-)?(avax|fuji)1/i.test(text)) {
    throw new InvalidAddress('avalanche-other-chain');
  }
  // BNB Beacon Chain was shut down in 2024; old wallets still show its addresses.
  if (family === 'bnb' && /^t?bnb1/i.test(text)) throw new InvalidAddress('bnb-beacon-chain');
  if (/^[0-9a-f]{40}$/i.test(text)) throw new InvalidAddress('evm-start-missing');
  if (text.startsWith('0X')) throw new InvalidAddress('evm-start-capital');
  throw new InvalidAddress('evm-start-wrong', { network: NETWORK_NAME[family] });
}

function refuseMalformedDigits(digits: string): void {
  const foreign = /[^0-9a-f]/i.exec(digits);
  if (foreign !== null) {
    const [character] = foreign;
    throw new InvalidAddress('evm-digit-wrong', { position: foreign.index + 3, character });
  }
  if (digits.length === 64) throw new InvalidAddress('evm-hash-or-key');
  if (digits.length !== 40) throw new InvalidAddress('evm-length-wrong', { length: digits.length });
}

function isMixedCase(digits: string): boolean {
  return digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
}

/** EIP-55: a letter is upper case where the same hex digit of the lower-case text's Keccak-256 is 8 or more. */
function toChecksumCase(digits: string): string {
  const hash = hex.encode(keccak_256(utf8ToBytes(digits)));
  const cased = Array.from(digits, (digit, index) =>
    hash.charAt(index) >= '8' ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}

function refuseUnspendable(address: string): void {
  if (/^0x0+$/.test(address)) throw new InvalidAddress('evm-zero-address');
  const what = NOT_A_WALLET.get(address);
  if (what === undefined && (RESERVED.test(address) || REPEATED.test(address))) {
    throw new InvalidAddress('evm-reserved-address');
  }
  if (what !== undefined) throw new InvalidAddress(...what);
}
