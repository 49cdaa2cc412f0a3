import { hash } from 'node:crypto';
import { canonicalHead, type SignedParts } from './canonical.ts';

/** Block size of SHA-256, in bytes. */
const BLOCK = 64;

/**
 * A secret that many requests are signed with. Computes the same HMAC as `signRequest`, by the definition of
 * RFC 2104, with the key's two blocks made once. Creating and collecting one of Node's Hmac objects takes
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
    // As text with one byte per character: Node takes five times as long to make a buffer of a digest.
    const inner = hash('sha256', Buffer.concat([this.#inner, head, parts.body]), 'binary');
    const digest = Buffer.concat([this.#outer, Buffer.from(inner, 'binary')]);
    return Buffer.from(hash('sha256', digest, 'binary'), 'binary');
  }
}
