import { createHash, createHmac } from 'node:crypto';

/** A part of the canonical request; the target is path and query together. */
export type CanonicalPart = 'timestamp' | 'nonce' | 'method' | 'target' | 'body';

/** Digests a signature may be of, which its length tells apart. */
export type Hash = 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512';

/**
 * How hash, key and message come together: `hmac` as it should be, its arguments the wrong way
 * round, over the message's digest in hex or in bytes, or a plain hash with the key beside the
 * message or without any.
 */
export type Construction =
  | 'hmac'
  | 'swapped'
  | 'over-hex-digest'
  | 'over-digest'
  | 'key-first'
  | 'key-last'
  | 'no-key';

/** One way in which somebody may have made a signature. */
export interface Attempt {
  readonly timestamp: string;
  readonly nonce: string;
  readonly method: string;
  /** The request target up to its query. */
  readonly path: string;
  /** The query with its question mark; empty without one. */
  readonly query: string;
  readonly body: Uint8Array;
  readonly order: readonly CanonicalPart[];
  readonly separator: string;
  /** What follows the last part. */
  readonly end: string;
  readonly key: Uint8Array | string;
  readonly hash: Hash;
  readonly construction: Construction;
}

export const RIGHT_ORDER: readonly CanonicalPart[] = [
  'timestamp',
  'nonce',
  'method',
  'target',
  'body',
];

/** The text that an attempt signs, as bytes. */
export function messageOf(attempt: Attempt): Buffer {
  const { timestamp, nonce, method, path, query, body, order, separator, end } = attempt;
  const parts = { timestamp, nonce, method, target: path + query, body };
  const bytes = order.flatMap((name, index) => {
    const part = Buffer.from(parts[name]);
    return index === 0 ? [part] : [Buffer.from(separator), part];
  });
  return Buffer.concat([...bytes, Buffer.from(end)]);
}

/** The signature of `message` in the way of an attempt. */
export function signAttempt({ key, hash, construction }: Attempt, message: Buffer): Buffer {
  switch (construction) {
    case 'hmac':
      return createHmac(hash, key).update(message).digest();
    case 'swapped':
      return createHmac(hash, message).update(key).digest();
    case 'over-hex-digest':
      return createHmac(hash, key).update(createHash(hash).update(message).digest('hex')).digest();
    case 'over-digest':
      return createHmac(hash, key).update(createHash(hash).update(message).digest()).digest();
    case 'key-first':
      return createHash(hash).update(key).update(message).digest();
    case 'key-last':
      return createHash(hash).update(message).update(key).digest();
    case 'no-key':
      return createHash(hash).update(message).digest();
  }
}
