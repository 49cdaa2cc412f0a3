import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check, hex } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '#chains/address.ts';
import { BASE58, oneCharacterChanges, refusalOf, replaceAt } from './address-refusal.ts';

const base58check = createBase58check(sha256);
const ENVIRONMENTS = ['production', 'test'] as const;

// tron4j's Base58CheckTest; java-tron's genesis block (Zion, the first representative); Binance.
const WALLETS = [
  'TJAAinkKN2h9KxtBZXw6SyL7HwCQXnzFsE',
  'TLLM21wteSPs4hKjbxgmH1L6poyMjeTbHm',
  'THKJYuUmMKKARNf7s2VT51g5uPY6KEqnat',
  'TMuA6YqfCeX8EhbfYEg5y7S4DqzSJireY9',
];

const account = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .filter(bytes => bytes.subarray(0, 16).some(byte => byte !== 0));
const address = account.map(bytes => base58check.encode(Uint8Array.of(0x41, ...bytes)));

describe('wallets', () => {
  it.each(WALLETS)('accepts %s', text => {
    for (const environment of ENVIRONMENTS) {
      expect(parseAddress('tron', environment, text)).toBe(text);
    }
  });

  it('accepts every account, and its canonical form is itself', () => {
    const property = fc.property(address, text => {
      expect(text).toMatch(/^T.{33}$/);
      expect(parseAddress('tron', 'production', text)).toBe(text);
    });
    fc.assert(property);
  });
});

describe('refusals', () => {
  it.each([
    '4159d3ad9d126e153b9564417d3a05cf51c1964edf',
    '4159D3AD9D126E153B9564417D3A05CF51C1964EDF',
    '0x4159d3ad9d126e153b9564417d3a05cf51c1964edf',
  ])('asks for the T form instead of %s', text => {
    expect(refusalOf('tron', 'production', text)).toContain('hexadecimal form');
  });

  it('refuses what does not begin with T', () => {
    expect(refusalOf('tron', 'production', '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045')).toContain(
      'begins with T',
    );
    expect(refusalOf('tron', 'production', 'tJAAinkKN2h9KxtBZXw6SyL7HwCQXnzFsE')).toContain(
      'begins with T',
    );
  });

  it('counts the characters', () => {
    const text = 'TJAAinkKN2h9KxtBZXw6SyL7HwCQXnzFsE';
    expect(refusalOf('tron', 'production', text.slice(0, -1))).toContain('this has 33');
    expect(refusalOf('tron', 'production', `${text}E`)).toContain('this has 35');
  });

  it('names the character that does not belong', () => {
    const text = replaceAt('TJAAinkKN2h9KxtBZXw6SyL7HwCQXnzFsE', 6, 'l');
    expect(refusalOf('tron', 'production', text)).toContain('character 7 is "l"');
  });

  it('refuses every other version that yields a T', () => {
    const bytes = hex.decode('59d3ad9d126e153b9564417d3a05cf51c1964edf');
    for (let version = 0; version < 256; version += 1) {
      if (version === 0x41) continue;
      const text = base58check.encode(Uint8Array.of(version, ...bytes));
      expect(refusalOf('tron', 'production', text)).not.toBe('');
    }
  });

  it.each([
    ['T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb', 'zero address'],
    ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 'contract of USDT'],
    ['TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8', 'contract of USDC'],
    ['TUpMhErZL2fhh4sVNULAbNKLokS4GjC1F4', 'contract of TUSD'],
    ['TPYmHEhy5n8TCEfYGqW2rPxsghSfzghPDn', 'contract of USDD'],
    ['TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR', 'contract of wrapped TRX'],
    ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy', 'blackhole'],
  ])('refuses %s: %s', (text, reason) => {
    for (const environment of ENVIRONMENTS) {
      expect(refusalOf('tron', environment, text)).toContain(reason);
    }
  });

  it('refuses the addresses of precompiled contracts', () => {
    for (const last of [
      [0, 0, 0, 9],
      [1, 0, 0, 13],
    ]) {
      const text = base58check.encode(Uint8Array.of(0x41, ...new Uint8Array(16), ...last));
      expect(refusalOf('tron', 'production', text)).toContain('reserved');
    }
  });

  it('refuses a changed character', () => {
    const change = fc.record({ text: address, at: fc.nat(33), to: fc.constantFrom(...BASE58) });
    const property = fc.property(change, ({ text, at, to }) => {
      fc.pre(text.charAt(at) !== to);
      expect(refusalOf('tron', 'production', replaceAt(text, at, to))).not.toBe('');
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('refuses all one-character changes of known addresses', () => {
    for (const text of WALLETS) {
      for (const changed of oneCharacterChanges(text, BASE58, 1)) {
        expect(refusalOf('tron', 'production', changed)).toMatch(/checksum|length/);
      }
    }
  });
});
