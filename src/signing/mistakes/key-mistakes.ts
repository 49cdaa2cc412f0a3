import { createHash } from 'node:crypto';
import type { Attempt, Construction } from './attempt.ts';
import type { Mistake } from './mistake.ts';

/** A secret that may have been taken for the right one, and what to call it. */
export interface OtherSecret {
  readonly name: string;
  readonly secret: string;
}

/** What else belongs to the key. None of it is ever part of an explanation. */
export interface KeyHints {
  readonly keyId?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly otherSecrets?: readonly OtherSecret[];
}

const PREFIX = 'mps_';
const CONSTRUCTIONS: readonly (readonly [construction: Construction, made: string])[] = [
  ['no-key', 'a plain hash without the secret in place of an HMAC'],
  ['key-first', 'a plain hash over secret and canonical request in place of an HMAC'],
  ['key-last', 'a plain hash over canonical request and secret in place of an HMAC'],
  ['swapped', 'key and message of the HMAC the wrong way round'],
  ['over-hex-digest', 'an HMAC over the hash of the canonical request'],
  ['over-digest', 'an HMAC over the hash of the canonical request'],
];

/** Another secret, the same in another form, or something else than an HMAC with it. */
export function* keyMistakes(secret: string, hints: KeyHints): Generator<Mistake> {
  for (const [made, key, alone = false] of keysInsteadOf(secret, hints)) {
    yield {
      component: 'secret',
      made,
      remedy: `Use the whole secret that came with the passphrase, "${PREFIX}" included, as UTF-8 text.`,
      change: { key },
      alone,
    };
  }
  for (const [construction, made] of CONSTRUCTIONS) {
    yield {
      component: 'algorithm',
      made,
      remedy:
        'Use HMAC-SHA256 with the secret as its key and the canonical request as its message.',
      change: { construction },
    };
  }
}

function* keysInsteadOf(
  secret: string,
  { keyId, passphrase, otherSecrets = [] }: KeyHints,
): Generator<readonly [made: string, key: Attempt['key'], alone?: boolean]> {
  for (const { name, secret: other } of otherSecrets) {
    yield [name, other];
    if (other.startsWith(PREFIX)) {
      yield [`${name}, without its "${PREFIX}"`, other.slice(PREFIX.length), true];
    }
  }
  const digits = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  yield [`the secret without its "${PREFIX}"`, digits];
  yield ['the secret decoded from hex to bytes', Buffer.from(digits, 'hex')];
  yield ['the secret decoded from base64 to bytes', Buffer.from(secret, 'base64')];
  yield ['the secret decoded from base64 to bytes', Buffer.from(digits, 'base64')];
  yield ['the secret in base64', Buffer.from(secret).toString('base64'), true];
  yield ['the secret in upper case', secret.toUpperCase(), true];
  for (const end of ['\n', '\r\n', ' ']) {
    yield ['the secret with a blank or a line end after it', `${secret}${end}`];
  }
  for (const mark of ['"', "'"]) yield ['the secret in quotes', `${mark}${secret}${mark}`];
  yield ["the secret's SHA-256 in hex", createHash('sha256').update(secret).digest('hex'), true];
  yield ['an empty secret', ''];
  if (passphrase !== undefined) yield ['the passphrase in place of the secret', passphrase];
  if (keyId !== undefined) yield ['the key ID in place of the secret', keyId];
}
