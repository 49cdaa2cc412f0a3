import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signingHeaders } from '#client/index.ts';
import { type SignedParts, signRequest } from '#signing/canonical.ts';
import { SigningKey } from '#signing/signing-key.ts';
import { checkSignature } from '#signing/verify-signature.ts';
import { anyText } from '../helpers/any-text.ts';
import { CREATE_VECTOR, LIST_VECTOR } from './vector.ts';

describe.each([
  ['a creation', CREATE_VECTOR],
  ['a list', LIST_VECTOR],
])('the worked example of %s', (_name, vector) => {
  const { keyId, secret, timestamp, nonce, method, path, body, signature } = vector;

  test('is what node:crypto computes for the documented text', () => {
    const canonical = `${timestamp}\n${nonce}\n${method}\n${path}\n${body}`;
    expect(createHmac('sha256', secret).update(canonical).digest('hex')).toBe(signature);
  });

  test('is what the service expects', () => {
    const parts = { timestamp, nonce, method, path, body: Buffer.from(body) };
    expect(signRequest(secret, parts).toString('hex')).toBe(signature);
    expect(() => checkSignature(new SigningKey(secret), parts, signature, false)).not.toThrow();
  });

  test('is what the client sends', () => {
    const now = Number(timestamp) * 1000 + 999;
    const credentials = { keyId, secret, passphrase: 'p' };
    expect(signingHeaders(credentials, { method, path, body, now, nonce })).toEqual({
      'x-mp-key-id': keyId,
      'x-mp-passphrase': 'p',
      'x-mp-timestamp': timestamp,
      'x-mp-nonce': nonce,
      'x-mp-signature': signature,
    });
  });
});

/** Text that can be sent in a request line or a header: without line feeds, so no part can extend into the next. */
const visible = (minLength: number) =>
  fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map(c => String.fromCharCode(c)),
    minLength,
  });
const signedParts: fc.Arbitrary<SignedParts> = fc.record({
  timestamp: fc.nat({ max: 2 ** 40 }).map(String),
  nonce: visible(1),
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  path: visible(0).map(path => `/${path}`),
  body: fc.oneof(
    fc.uint8Array(),
    fc.string().map(text => new TextEncoder().encode(`\n${text}`)),
  ),
});
const hex = (secret: string, parts: SignedParts) => signRequest(secret, parts).toString('hex');

test('a signature is 64 lower-case hex digits, the same every time', () => {
  fc.assert(
    fc.property(fc.string(), signedParts, (secret, parts) => {
      expect(hex(secret, parts)).toMatch(/^[0-9a-f]{64}$/);
      expect(hex(secret, { ...parts, body: Buffer.from(parts.body) })).toBe(hex(secret, parts));
    }),
  );
});

test('a prepared key makes the same signatures, for secrets of any length and any text', () => {
  const secret = fc.oneof(
    fc.string({ maxLength: 200 }),
    // Around SHA-256's block size, beyond which a key is hashed first.
    fc.integer({ min: 60, max: 70 }).map(length => 'k'.repeat(length)),
  );
  const unicode = fc.record({ path: anyText(), body: fc.uint8Array() });
  fc.assert(
    fc.property(secret, signedParts, unicode, (text, parts, others) => {
      const key = new SigningKey(text);
      for (const signed of [parts, { ...parts, ...others }, parts]) {
        expect(key.sign(signed).toString('hex')).toBe(hex(text, signed));
      }
    }),
  );
});

test('any change of any part changes the signature', () => {
  const part = fc.constantFrom('timestamp', 'nonce', 'method', 'path', 'body' as const);
  fc.assert(
    fc.property(signedParts, signedParts, part, (parts, others, name) => {
      fc.pre(Buffer.compare(Buffer.from(parts[name]), Buffer.from(others[name])) !== 0);
      const changed = { ...parts, [name]: others[name] };
      expect(hex('secret', changed)).not.toBe(hex('secret', parts));
      const key = new SigningKey('secret');
      expect(() => checkSignature(key, changed, hex('secret', parts), false)).toThrow();
    }),
  );
});

test('moving a byte from one part to the next is detected', () => {
  fc.assert(
    fc.property(signedParts, fc.nat(), (parts, place) => {
      const { path } = parts;
      const at = 1 + (place % Math.max(1, path.length - 1));
      fc.pre(at < path.length);
      const moved = Buffer.concat([Buffer.from(path.slice(at)), parts.body]);
      const shifted = { ...parts, path: path.slice(0, at), body: moved };
      expect(hex('secret', shifted)).not.toBe(hex('secret', parts));
    }),
  );
});

test('another secret makes another signature', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), signedParts, (secret, other, parts) => {
      // HMAC pads a key to its block with zero bytes, so those alone make no other key.
      const filled = (text: string) => text.replace(/\0+$/, '');
      fc.pre(filled(secret) !== filled(other));
      expect(hex(other, parts)).not.toBe(hex(secret, parts));
    }),
  );
});
