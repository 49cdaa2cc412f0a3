import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bech32, bech32m } from '@scure/base';
import { InvalidAddress } from '../invalid-address.ts';

type Checksum = 'bech32' | 'bech32m';

// bc and tb: BIP-173; bcrt: Bitcoin Core (src/kernel/chainparams.cpp). Signet and testnet4 use tb as well.
// The checksum covers the prefix, so a regtest address has no other spelling: it counts as one of testnet.
const NETWORKS: ReadonlyMap<string, readonly ['production' | 'test', string]> = new Map([
  ['bc', ['production', 'mainnet']],
  ['tb', ['test', 'testnet']],
  ['bcrt', ['test', 'regtest']],
]);

const FOREIGN_CHARACTER = /[^qpzry9x8gf2tvdw0s3jn54khce6mua7l]/;

/**
 * Parses a segwit address that begins with bc1, tb1 or bcrt1. Rules: BIP-173 (layout, case, padding,
 * version 0), BIP-350 (bech32m from version 1 on), BIP-141 (program lengths of version 0), BIP-341
 * (version 1 is an x-only public key).
 * @returns The address in lower case, with the prefix that it has: regtest's stays bcrt1.
 * @throws InvalidAddress
 */
export function parseSegwitAddress(environment: 'production' | 'test', text: string): string {
  const address = toOneCase(text);
  const prefix = address.slice(0, address.indexOf('1'));
  refuseOtherNetwork(environment, prefix);
  refuseForeignCharacter(address, prefix.length + 1);
  const { words, checksum } = decodeWords(address);
  const version = readVersion(words);
  refuseWrongChecksum(version, checksum);
  refuseUnspendable(version, readProgram(words));
  return address;
}

// BIP-173: upper case is for QR codes, mixed case is invalid.
function toOneCase(text: string): string {
  const lower = text.toLowerCase();
  if (text === lower || text === text.toUpperCase()) return lower;
  throw new InvalidAddress('segwit-case-mixed');
}

function refuseOtherNetwork(environment: 'production' | 'test', prefix: string): void {
  const [own, network = 'unknown'] = NETWORKS.get(prefix) ?? [];
  if (own === environment) return;
  const expected = environment === 'production' ? 'bc' : 'tb';
  throw new InvalidAddress('segwit-on-other-network', { network, prefix: expected });
}

function refuseForeignCharacter(address: string, from: number): void {
  const foreign = FOREIGN_CHARACTER.exec(address.slice(from));
  if (foreign === null) return;
  const [character] = foreign;
  throw new InvalidAddress('foreign-character', { position: from + foreign.index + 1, character });
}

// No text is valid under both checksums (BIP-350), so trying both does not weaken error detection.
function decodeWords(address: string): { words: number[]; checksum: Checksum } {
  const plain = bech32.decodeUnsafe(address);
  if (plain) return { words: plain.words, checksum: 'bech32' };
  const modified = bech32m.decodeUnsafe(address);
  if (modified) return { words: modified.words, checksum: 'bech32m' };
  throw new InvalidAddress('segwit-checksum-wrong');
}

function readVersion(words: number[]): number {
  const version = words[0];
  if (version === undefined) throw new InvalidAddress('segwit-empty');
  if (version > 16) throw new InvalidAddress('segwit-version-unknown', { version });
  return version;
}

function refuseWrongChecksum(version: number, checksum: Checksum): void {
  const expected = version === 0 ? 'bech32' : 'bech32m';
  if (checksum === expected) return;
  throw new InvalidAddress('segwit-checksum-of-other-version', { version, checksum, expected });
}

function readProgram(words: number[]): Uint8Array {
  const program = bech32.fromWordsUnsafe(words.slice(1));
  if (program) return program;
  throw new InvalidAddress('segwit-bits-stray');
}

function refuseUnspendable(version: number, program: Uint8Array): void {
  // BIP-350 asks senders to allow future versions. A recipient must not use one: until a soft fork defines
  // its rules, anyone can spend from it.
  if (version > 1) throw new InvalidAddress('segwit-version-unused', { version });
  if (program.length !== 32 && !(version === 0 && program.length === 20)) {
    throw new InvalidAddress('segwit-length-wrong', { version, bytes: program.length });
  }
  if (version === 0 && program.every(byte => byte === 0)) throw new InvalidAddress('burn-address');
  if (version === 1 && !isTaprootKey(program)) throw new InvalidAddress('taproot-key-invalid');
}

// BIP-341: the program must be the x coordinate of a curve point, as about half of all values are.
// Otherwise neither a signature nor a script path can spend from the address, although it is well formed.
function isTaprootKey(program: Uint8Array): boolean {
  return secp256k1.utils.isValidPublicKey(Uint8Array.of(0x02, ...program), true);
}
