import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '#reports/evidence/canonical.ts';
import { EvidenceRefused, verifyEvidence } from '#reports/evidence/verify.ts';

test('every document verifies as it was signed, and is refused with a duplicate member', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'key' }];
  const names = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^["\\:, {}]*$/));
  const values = fc.oneof(fc.jsonValue(), names, fc.array(fc.dictionary(names, names)));
  const documents = fc.dictionary(names, values, { minKeys: 1 });
  fc.assert(
    fc.property(documents, fc.constantFrom('', ' ', '\t\n'), (evidence, space) => {
      const signature = sign(null, Buffer.from(canonicalJson(evidence)), privateKey);
      const rest = { signature: signature.toString('base64'), keyId: 'key' };
      const write = (text: string) =>
        Buffer.from(`{"evidence":${space}${text},${JSON.stringify(rest).slice(1)}`);
      const text = JSON.stringify(evidence, null, space);
      expect(verifyEvidence(write(text), keys)).toMatchObject(rest);
      const [first = ''] = Object.keys(evidence);
      const doubled = `{${JSON.stringify(first)}${space}:0,${text.slice(1)}`;
      expect(() => verifyEvidence(write(doubled), keys)).toThrow(/is there twice/);
    }),
    { seed: 1, numRuns: 100 },
  );
});

test('a number verifies only in its signed spelling', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'key' }];
  const numbers = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const spell = fc.constantFrom<(text: string) => string>(
    text => (/[.e]/.test(text) ? text.replace(/e|$/, '0$&') : `${text}.0`),
    text => (text.includes('e') ? text.replace('e', 'E') : `${text}e0`),
    text => (/[.e]/.test(text) ? text.replace(/e|$/, '00000000000000000001$&') : `${text}.00`),
  );
  fc.assert(
    fc.property(numbers, spell, (number, respell) => {
      const text = JSON.stringify(number);
      const signature = sign(null, Buffer.from(canonicalJson({ number })), privateKey);
      const rest = { signature: signature.toString('base64'), keyId: 'key' };
      const write = (literal: string) =>
        Buffer.from(`{"evidence":{"number":${literal}},${JSON.stringify(rest).slice(1)}`);
      expect(verifyEvidence(write(text), keys)).toMatchObject(rest);
      expect(() => verifyEvidence(write(respell(text)), keys)).toThrow(EvidenceRefused);
    }),
    { seed: 1, numRuns: 100 },
  );
});

test('canonical JSON does not depend on the order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const turned = JSON.parse(JSON.stringify(value), (_, member) =>
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? Object.fromEntries(Object.entries(member).reverse())
          : member,
      );
      expect(canonicalJson(turned)).toBe(canonicalJson(value));
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { seed: 1 },
  );
});
