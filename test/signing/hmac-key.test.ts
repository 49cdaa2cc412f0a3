import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signRequest } from '../../src/signing/canonical.ts';
import { HmacKey } from '../../src/signing/hmac-key.ts';

const parts = fc.record({
  timestamp: fc.string(),
  nonce: fc.string({ unit: 'binary', maxLength: 300 }),
  method: fc.constantFrom('GET', 'POST'),
  path: fc.string({ unit: 'grapheme', maxLength: 3_000 }),
  body: fc.uint8Array({ maxLength: 10_000, size: 'max' }),
});

test('signs as the client does, whatever the lengths of secret and request', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.array(parts), (secret, all) => {
      const key = new HmacKey(secret);
      for (const each of all) expect(key.sign(each)).toEqual(signRequest(secret, each));
    }),
    { numRuns: 300 },
  );
});

test.each([0, 1, 63, 64, 65, 68, 128])('a secret of %i bytes is the key it is to HMAC', length => {
  const secret = 's'.repeat(length);
  const request = { timestamp: '1', nonce: 'n', method: 'GET', path: '/', body: Buffer.alloc(0) };
  expect(new HmacKey(secret).sign(request)).toEqual(signRequest(secret, request));
});

test('what was signed before leaves no trace in what is signed next', () => {
  const key = new HmacKey('secret');
  const long = { timestamp: '1', nonce: 'n', method: 'GET', path: `/${'x'.repeat(500)}` };
  const short = { ...long, path: '/' };
  key.sign({ ...long, body: Buffer.alloc(5_000, 1) });
  const body = Buffer.alloc(0);
  expect(key.sign({ ...short, body })).toEqual(signRequest('secret', { ...short, body }));
});
