import { sha256 } from '@noble/hashes/sha2.js';
import { HDKey } from '@scure/bip32';
import type { WalletKind } from '#storage/database/account-tables.ts';
import { base58check, decodeBase58 } from '../base58-text.ts';
import { InvalidAddress } from '../invalid-address.ts';
import { refusePrivateKey } from '../private-key.ts';
import { hasDescriptorChecksum } from './descriptor-checksum.ts';

type Environment = 'production' | 'test';

/** Version bytes of extended public keys (BIP-32, SLIP-132): for one signer, by network. */
const VERSIONS: ReadonlyMap<number, Environment> = new Map([
  [0x0488b21e, 'production'], // xpub
  [0x049d7cb2, 'production'], // ypub
  [0x04b24746, 'production'], // zpub
  [0x043587cf, 'test'], // tpub
  [0x044a5262, 'test'], // upub
  [0x045f1cf6, 'test'], // vpub
]);
/** Ypub, Zpub, Upub and Vpub: one of several keys of a wallet (SLIP-132). */
const MULTISIG_VERSIONS: readonly number[] = [0x0295b43f, 0x02aa7ed3, 0x024289ef, 0x02575483];
const XPUB = 0x0488b21e;

/** Bytes of a serialized extended key (BIP-32), without its checksum. */
const KEY_BYTES = 78;

/**
 * Depths of a key below which wallets have receiving addresses at `0/*`: accounts of BIP-44, 49, 84 and 86, and
 * Electrum's own wallets, whose key is the root or its first child.
 */
const ACCOUNT_DEPTHS: readonly number[] = [0, 1, 3];

/** Longest text that is parsed: a descriptor of one key with a long origin and path has some 200 characters. */
const LENGTH_MAXIMUM = 400;

/** Functions of descriptors with one key (BIP-381, 382, 386). */
const KINDS: ReadonlyMap<string, WalletKind> = new Map([
  ['pkh', 'pkh'],
  ['sh(wpkh', 'sh-wpkh'],
  ['wpkh', 'wpkh'],
  ['tr', 'tr'],
]);

const DESCRIPTOR =
  /^(?<name>[a-z_]+(?:\(wpkh)?)\((?:\[(?<origin>[^[\]()]*)\])?(?<key>[^/()[\],{}#]+)(?<path>(?:\/[^()[\],{}#]*)?)\)+(?:#(?<checksum>.*))?$/;
const SEVERAL_KEYS = /(?:^|[^a-z])(?:sorted)?multi(?:_a)?\(|wsh\(|musig\(/;
const ORIGIN = /^[0-9a-f]{8}(?:\/\d{1,10}['hH]?)*$/i;

/** A wallet's public key, from which its receiving addresses are derived. */
export interface WalletKey {
  /** The kind of its addresses; null where the text does not say: the kind of an address tells. */
  readonly kind: WalletKind | null;
  /** The parent of the receiving addresses; it has no private key. */
  readonly receiving: HDKey;
  /** The parent of the change addresses, if it can be derived. */
  readonly change: HDKey | undefined;
  /** Of the key as given, 8 hexadecimal digits (BIP-32). */
  readonly fingerprint: string;
}

/**
 * Parses an extended public key of an account (BIP-32; prefixes of SLIP-132), or an output descriptor with one such
 * key (BIP-380, with the multipath expressions of BIP-389). What the prefix says of the addresses is not believed:
 * many wallets write xpub for every kind.
 * @throws InvalidAddress; the reason never repeats the text.
 */
export function parseWalletKey(environment: Environment, given: string): WalletKey {
  const text = given.trim();
  refusePrivateKey(text);
  if (text === '') throw new InvalidAddress('wallet-empty');
  if (text.length > LENGTH_MAXIMUM) throw new InvalidAddress('text-too-long');
  if (text.includes('(')) return parseDescriptor(environment, text);
  const key = decodeKey(environment, text);
  return { kind: null, ...ofAccount(key), fingerprint: fingerprintOf(key) };
}

/**
 * The same for every spelling of the same key, at whatever position it was given: SHA-256 of chain code and
 * public key of the parent of the receiving addresses, in hex.
 */
export function walletDigest({ chainCode, publicKey }: HDKey): string {
  const parts = [chainCode ?? new Uint8Array(), publicKey ?? new Uint8Array()];
  return Buffer.from(sha256(Buffer.concat(parts))).toString('hex');
}

function parseDescriptor(environment: Environment, text: string): WalletKey {
  if (SEVERAL_KEYS.test(text)) throw new InvalidAddress('wallet-multisig');
  const {
    name = '',
    origin,
    key: keyText = '',
    path = '',
    checksum,
  } = DESCRIPTOR.exec(text)?.groups ?? {};
  const kind = KINDS.get(name);
  if (kind === undefined || (origin !== undefined && !ORIGIN.test(origin))) {
    throw new InvalidAddress('wallet-descriptor-unknown');
  }
  if (checksum !== undefined && !hasDescriptorChecksum(text)) {
    throw new InvalidAddress('wallet-descriptor-checksum');
  }
  const key = decodeKey(environment, keyText);
  const fingerprint = fingerprintOf(key);
  if (path === '') return { kind, ...ofAccount(key), fingerprint };
  return { kind, ...ofPath(key, path.slice(1).split('/')), fingerprint };
}

type Parents = Pick<WalletKey, 'receiving' | 'change'>;

function ofAccount(key: HDKey): Parents {
  if (!ACCOUNT_DEPTHS.includes(key.depth)) {
    throw new InvalidAddress('wallet-depth', { depth: key.depth });
  }
  return { receiving: key.deriveChild(0), change: key.deriveChild(1) };
}

/** @param path Steps below the key, the last of which stands for the addresses. */
function ofPath(key: HDKey, path: readonly string[]): Parents {
  if (path.some(step => /['hH]$/.test(step))) throw new InvalidAddress('wallet-hardened');
  const steps = path.slice(0, -1);
  if (path.at(-1) !== '*') throw new InvalidAddress('wallet-path-fixed');
  const last = steps.pop();
  const parent = steps.reduce((above, step) => above.deriveChild(indexOf(step)), key);
  if (last === undefined) return { receiving: parent, change: undefined };
  const [first = '', second] = /^<(.*)>$/.exec(last)?.[1]?.split(';') ?? [last];
  if (first === '1') throw new InvalidAddress('wallet-change-path');
  return {
    receiving: parent.deriveChild(indexOf(first)),
    change: parent.deriveChild(second === undefined ? 1 : indexOf(second)),
  };
}

/** A step that is not hardened (BIP-32): below 2^31. */
function indexOf(step: string): number {
  const index = /^\d{1,10}$/.test(step) ? Number(step) : Number.NaN;
  if (!(index < 0x8000_0000)) throw new InvalidAddress('wallet-descriptor-unknown');
  return index;
}

function decodeKey(environment: Environment, text: string): HDKey {
  const payload = decodePayload(text);
  const version = payload.readUInt32BE(0);
  if (MULTISIG_VERSIONS.includes(version)) throw new InvalidAddress('wallet-multisig');
  const network = VERSIONS.get(version);
  if (network === undefined) throw new InvalidAddress('wallet-key-unknown');
  if (network !== environment) {
    throw new InvalidAddress(network === 'test' ? 'wallet-on-testnet' : 'wallet-on-mainnet');
  }
  payload.writeUInt32BE(XPUB, 0);
  try {
    return HDKey.fromExtendedKey(base58check.encode(payload));
  } catch {
    throw new InvalidAddress('wallet-key-unknown');
  }
}

function decodePayload(text: string): Buffer {
  if (!/^[xyztuvYZUV]pub/.test(text)) throw new InvalidAddress('wallet-key-unknown');
  if (decodeBase58(text).length !== KEY_BYTES + 4) throw new InvalidAddress('length-wrong');
  try {
    return Buffer.from(base58check.decode(text));
  } catch {
    throw new InvalidAddress('checksum-mistyped');
  }
}

function fingerprintOf({ fingerprint }: HDKey): string {
  return fingerprint.toString(16).padStart(8, '0');
}
