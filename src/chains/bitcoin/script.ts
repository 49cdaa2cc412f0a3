import { bech32, bech32m } from '@scure/base';
import { decodeBase58Check } from '../base58-text.ts';
import { InvalidAddress } from '../invalid-address.ts';

// Opcodes (Bitcoin Core, src/script/script.h).
const DUP = 0x76;
const EQUAL = 0x87;
const EQUALVERIFY = 0x88;
const HASH160 = 0xa9;
const CHECKSIG = 0xac;
const NUMBER_1 = 0x51;

/** One version byte and a 20-byte hash. */
const BASE58_PAYLOAD = 21;

/** Version bytes of P2SH; the others are P2PKH (Bitcoin Core, src/kernel/chainparams.cpp). */
const SCRIPT_HASH_VERSIONS: readonly (number | undefined)[] = [0x05, 0xc4];

/**
 * The output script that an address stands for: P2PKH, P2SH, P2WPKH, P2WSH or P2TR, of the main network, a
 * test network or regtest. Several addresses may stand for one script (tb1… and bcrt1…).
 * @param address In its canonical spelling.
 * @returns Hex.
 * @throws InvalidAddress
 */
export function scriptOf(address: string): string {
  const script = /^(bc|tb|bcrt)1/.test(address) ? witnessScript(address) : base58Script(address);
  return Buffer.from(script).toString('hex');
}

function base58Script(address: string): Uint8Array {
  const payload = decodeBase58Check(address, BASE58_PAYLOAD);
  const hash = payload.subarray(1);
  return SCRIPT_HASH_VERSIONS.includes(payload[0])
    ? Uint8Array.of(HASH160, hash.length, ...hash, EQUAL)
    : Uint8Array.of(DUP, HASH160, hash.length, ...hash, EQUALVERIFY, CHECKSIG);
}

// BIP-141: the version as a number's opcode, then the program.
function witnessScript(address: string): Uint8Array {
  const coder = bech32.decodeUnsafe(address) ? bech32 : bech32m;
  const [version = 0, ...words] = coder.decodeUnsafe(address)?.words ?? [];
  const program = coder.fromWordsUnsafe(words);
  if (!program || words.length === 0) throw new InvalidAddress('checksum-wrong');
  return Uint8Array.of(version === 0 ? 0 : NUMBER_1 + version - 1, program.length, ...program);
}
