import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyring } from '#crypto/keyring.ts';
import { anyText } from '../helpers/any-text.ts';

const FIRST = Buffer.alloc(32, 1);
const SECOND = Buffer.alloc(32, 2);
const keyring = createKeyring([FIRST]);

/** Contexts are key IDs: header text, which has no NUL. */
const contexts = fc.string({ unit: 'grapheme' }).filter(text => !text.includes('\0'));
const texts = anyText().map(text => text.toWellFormed());
const twoContexts = fc.tuple(contexts, contexts).filter(([one, other]) => one !== other);

describe('sealing', () => {
  test('opens to the original text', () => {
    fc.assert(
      fc.property(texts, contexts, (text, context) => {
        const sealed = keyring.seal(text, context);
        expect(sealed).toHaveLength(12 + Buffer.byteLength(text) + 16);
        expect(keyring.open(sealed, context, keyring.currentVersion)).toBe(text);
      }),
    );
  });

  test('opens only in the context it was sealed in', () => {
    fc.assert(
      fc.property(texts, twoContexts, (text, [context, other]) => {
        const sealed = keyring.seal(text, context);
        expect(() => keyring.open(sealed, other, keyring.currentVersion)).toThrow();
      }),
    );
  });

  test('opens only unaltered', () => {
    const bits = fc.tuple(texts, fc.nat(), fc.nat({ max: 7 }));
    fc.assert(
      fc.property(bits, ([text, position, bit]) => {
        const sealed = keyring.seal(text, 'mpk_1');
        const index = position % sealed.length;
        sealed.writeUInt8(sealed.readUInt8(index) ^ (1 << bit), index);
        expect(() => keyring.open(sealed, 'mpk_1', keyring.currentVersion)).toThrow();
      }),
    );
    fc.assert(
      fc.property(texts, fc.nat(), (text, length) => {
        const sealed = keyring.seal(text, 'mpk_1');
        const cut = sealed.subarray(0, length % sealed.length);
        expect(() => keyring.open(cut, 'mpk_1', keyring.currentVersion)).toThrow();
      }),
    );
  });

  test('never returns the same bytes twice, nor the text itself', () => {
    const sealed = Array.from({ length: 100 }, () => keyring.seal('mps_secret', 'mpk_1'));
    expect(new Set(sealed.map(bytes => bytes.toString('hex'))).size).toBe(100);
    for (const bytes of sealed) expect(bytes.includes('mps_secret')).toBe(false);
  });

  test('does not open under another master key', () => {
    const other = createKeyring([SECOND]);
    expect(() => other.open(keyring.seal('a', 'b'), 'b', other.currentVersion)).toThrow();
  });
});

describe('hashing', () => {
  test('distinguishes secrets and contexts, and nothing else', () => {
    fc.assert(
      fc.property(texts, texts, twoContexts, (secret, other, [context, another]) => {
        const hash = keyring.hash(secret, context);
        expect(hash).toHaveLength(32);
        expect(keyring.hash(secret, context)).toEqual(hash);
        expect(keyring.hash(secret, another)).not.toEqual(hash);
        expect(keyring.hash(other, context).equals(hash)).toBe(other === secret);
      }),
    );
  });

  test('does not confuse text between context and secret', () => {
    fc.assert(
      fc.property(contexts, contexts, contexts, (left, middle, right) => {
        fc.pre(middle !== '');
        expect(keyring.hash(middle + right, left)).not.toEqual(keyring.hash(right, left + middle));
      }),
    );
  });

  test('depends on the master key', () => {
    expect(createKeyring([SECOND]).hash('a', 'b')).not.toEqual(keyring.hash('a', 'b'));
  });
});

describe('rotating the master key', () => {
  const rotated = createKeyring([SECOND, FIRST]);

  test('still opens and hashes what the former key made', () => {
    const { currentVersion } = keyring;
    expect(rotated.open(keyring.seal('a', 'b'), 'b', currentVersion)).toBe('a');
    expect(rotated.hash('a', 'b', currentVersion)).toEqual(keyring.hash('a', 'b'));
  });

  test('uses the current key for everything new', () => {
    const alone = createKeyring([SECOND]);
    expect(rotated.currentVersion).toBe(alone.currentVersion);
    expect(alone.open(rotated.seal('a', 'b'), 'b', alone.currentVersion)).toBe('a');
    expect(rotated.hash('a', 'b')).toEqual(alone.hash('a', 'b'));
  });

  test('names the version of a missing key, not the secret', () => {
    const sealed = keyring.seal('mps_secret', 'mpk_1');
    const open = () => createKeyring([SECOND]).open(sealed, 'mpk_1', keyring.currentVersion);
    expect(open).toThrow(String(keyring.currentVersion));
    expect(open).not.toThrow('mps_secret');
  });

  test('has distinct versions that fit an integer column', () => {
    const versions = Array.from(
      { length: 200 },
      () => createKeyring([randomBytes(32)]).currentVersion,
    );
    expect(new Set(versions).size).toBe(200);
    for (const version of versions)
      expect(version >>> 0 === version && version < 2 ** 31).toBe(true);
  });
});

test('an unknown version hashes under the current key, so that the work is the same', () => {
  expect(keyring.hash('a', 'b', 0)).toEqual(keyring.hash('a', 'b'));
});

test('a keyring needs a key', () => {
  expect(() => createKeyring([])).toThrow('master key');
});
