import { createHash, createHmac } from 'node:crypto';
import type { Digest, Key, MismatchHints, Named } from './mistake.ts';

const PREFIX = 'mps_';

/** What may have been the key in place of the secret. */
export function otherKeys(secret: string, hints: MismatchHints): Named<Key>[] {
  const { keyId, passphrase, otherSecrets = [] } = hints;
  const digits = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  return [
    ...otherSecrets.map((other): Named<string> => [other.name, other.secret]),
    [`the secret without its "${PREFIX}"`, digits],
    ['the secret decoded from hex to bytes', Buffer.from(digits, 'hex')],
    ['the secret decoded from base64 to bytes', Buffer.from(secret, 'base64')],
    ['the secret decoded from base64 to bytes', Buffer.from(digits, 'base64')],
    ['the secret in base64', Buffer.from(secret).toString('base64')],
    ['the secret in upper case', secret.toUpperCase()],
    ['the secret with a blank or a line end after it', `${secret}\n`],
    ['the secret with a blank or a line end after it', `${secret}\r\n`],
    ['the secret with a blank or a line end after it', `${secret} `],
    ['the secret in quotes', `"${secret}"`],
    ['the secret in quotes', `'${secret}'`],
    ["the secret's SHA-256 in hex", createHash('sha256').update(secret).digest('hex')],
    ['an empty secret', ''],
    ['the passphrase in place of the secret', passphrase ?? ''],
    ['the key ID in place of the secret', keyId ?? ''],
  ];
}

export const hmac: Digest = (hash, key, message) => createHmac(hash, key).update(message).digest();

/** What may have been computed in place of an HMAC over the message. */
export const OTHER_DIGESTS: readonly Named<Digest>[] = [
  ['a plain hash without the secret in place of an HMAC', (hash, _key, text) => plain(hash, text)],
  [
    'a plain hash over secret and canonical request in place of an HMAC',
    (hash, key, text) => plain(hash, key, text),
  ],
  [
    'a plain hash over canonical request and secret in place of an HMAC',
    (hash, key, text) => plain(hash, text, key),
  ],
  [
    'key and message of the HMAC the wrong way round',
    (hash, key, text) => hmac(hash, text, Buffer.from(key)),
  ],
  [
    'an HMAC over the hash of the canonical request',
    (hash, key, text) => hmac(hash, key, Buffer.from(plain(hash, text).toString('hex'))),
  ],
  [
    'an HMAC over the hash of the canonical request',
    (hash, key, text) => hmac(hash, key, plain(hash, text)),
  ],
];

function plain(hash: string, ...data: readonly Key[]): Buffer {
  return createHash(hash)
    .update(Buffer.concat(data.map(part => Buffer.from(part))))
    .digest();
}
