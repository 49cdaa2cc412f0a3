import { hash } from 'node:crypto';
import { canonicalHead, type SignedParts } from './canonical.ts';

/** Block of SHA-256, in bytes. */
const BLOCK = 64;

/**
 * A secret that many requests are signed with: the same HMAC as `signRequest`, by the definition of
 * RFC 2104, with the key's two blocks made once. Making and collecting one of Node's Hmac objects takes
 * several times as long as both hashes.
 */
export class SigningKey {
  readonly secret: string;
  readonly #inner: Buffer;
  readonly #outer: Buffer;

  constructor(secret: string) {
    this.secret = secret;
    const bytes = Buffer.from(secret);
    const key = bytes.length > BLOCK ? hash('sha256', bytes, 'buffer') : bytes;
    const block = Buffer.alloc(BLOCK);
    key.copy(block);
    this.#inner = Buffer.from(block.map(byte => byte ^ 0x36));
    this.#outer = Buffer.from(block.map(byte => byte ^ 0x5c));
  }

  /** @returns 32 bytes; X-MP-SIGNATURE carries them in lowercase hex. */
  sign(parts: SignedParts): Buffer {
    const head = Buffer.from(canonicalHead(parts));
    // As text of one byte a character: Node makes a buffer of a digest in five times as long.
    const inner = hash('sha256', Buffer.concat([this.#inner, head, parts.body]), 'binary');
    const digest = Buffer.concat([this.#outer, Buffer.from(inner, 'binary')]);
    return Buffer.from(hash('sha256', digest, 'binary'), 'binary');
  }
}
