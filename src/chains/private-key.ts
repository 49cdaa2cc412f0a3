import { InvalidAddress } from './invalid-address.ts';

/** What no address, public key or descriptor contains, but a private key does. */
const PRIVATE_KEYS = [
  // Extended private keys of BIP-32 and SLIP-132, also within a descriptor.
  /(?<![0-9A-Za-z])[xyztuvYZUV]prv[1-9A-HJ-NP-Za-km-z]{20}/,
  // Bitcoin's wallet import format: 51 or 52 characters; an address has at most 44 in base58.
  /(?<![0-9A-Za-z])[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}(?![0-9A-Za-z])/,
  // BIP-38, a private key under a password.
  /(?<![0-9A-Za-z])6P[1-9A-HJ-NP-Za-km-z]{56}(?![0-9A-Za-z])/,
  // Solana's key files: the bytes as a list.
  /^\s*\[\s*\d{1,3}(?:\s*,\s*\d{1,3}){31,63}\s*\]\s*$/,
];

/** Extended public keys of BIP-32 and SLIP-132, also within a descriptor. */
const EXTENDED_PUBLIC = /(?<![0-9A-Za-z])[xyztuvYZUV]pub[1-9A-HJ-NP-Za-km-z]{20}/;

/** Lengths of the word lists of BIP-39 (12 to 24) and SLIP-39 (20 and 33). */
const SEED_WORDS = { least: 12, most: 33 };
/** A word of such a list in Latin script has 3 to 8 letters; the lists of other scripts are not measured. */
const SEED_WORD = /^(?:[\p{Script=Latin}\p{M}]{3,8}|(?!\p{Script=Latin})[\p{L}\p{M}]{1,12})$/u;
/** Short words of which sentences are made, and that no list has. */
const OF_SENTENCES: ReadonlySet<string> = new Set(
  'the and for was has had not are but our his her its who que del los por una'.split(' '),
);

/** Whether a text has a private key or seed words. Bare hexadecimal digits do not count: hashes look the same. */
export function looksPrivate(text: string): boolean {
  return findPrivate(text) !== undefined;
}

/** Whether a text has a key that is for few eyes: a private one, or a public one that shows all of a wallet. */
export function looksConfidential(text: string): boolean {
  return looksPrivate(text) || EXTENDED_PUBLIC.test(text);
}

/** @throws InvalidAddress for a private key and for seed words, which must not be stored or shown anywhere. */
export function refusePrivateKey(text: string): void {
  const found = findPrivate(text);
  if (found !== undefined) throw new InvalidAddress(found);
}

function findPrivate(text: string): 'private-key' | 'seed-words' | undefined {
  if (PRIVATE_KEYS.some(pattern => pattern.test(text))) return 'private-key';
  const words = text
    .normalize('NFC')
    .trim()
    .split(/[\s,;]+/, SEED_WORDS.most + 1);
  const areSeed =
    words.length >= SEED_WORDS.least &&
    words.length <= SEED_WORDS.most &&
    words.every(word => SEED_WORD.test(word) && !OF_SENTENCES.has(word.toLowerCase()));
  return areSeed ? 'seed-words' : undefined;
}
