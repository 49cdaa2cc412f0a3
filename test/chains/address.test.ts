import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidAddress, parseAddress } from '#chains/address.ts';
import type { NetworkFamily } from '#storage/database/network-tables.ts';
import { anyText } from '../helpers/any-text.ts';
import { refusalOf } from './address-refusal.ts';

const ENVIRONMENTS = ['production', 'test'] as const;

// One real wallet per family (Bitcoin: the genesis block's reward).
const WALLET = {
  bitcoin: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
  ethereum: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
  bnb: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
  avalanche: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
  solana: '86xCnPeV69n6t3DnyGvkKobf9FdN2H9oiVDdaMpo2MMY',
  tron: 'TMuA6YqfCeX8EhbfYEg5y7S4DqzSJireY9',
} as const satisfies Record<NetworkFamily, string>;

const FAMILIES: readonly NetworkFamily[] = [
  'bitcoin',
  'ethereum',
  'bnb',
  'avalanche',
  'solana',
  'tron',
];

describe.each(FAMILIES)('%s', family => {
  const wallet = WALLET[family];

  it('accepts a real wallet', () => {
    expect(parseAddress(family, 'production', wallet)).toBe(wallet);
  });

  it.each(['', ' ', '\n\t', '\u00a0'])('refuses an empty text: %j', text => {
    expect(refusalOf(family, 'production', text)).toBe('the address is empty');
  });

  it.each([` ${wallet}`, `${wallet} `, `${wallet}\n`, `\ufeff${wallet}`, `\u00a0${wallet}`])(
    'refuses white space around it: %j',
    text => {
      expect(refusalOf(family, 'production', text)).toBe(
        'there is white space before or after the address',
      );
    },
  );

  it('refuses white space inside it', () => {
    const text = `${wallet.slice(0, 9)} ${wallet.slice(9)}`;
    expect(refusalOf(family, 'production', text)).toBe('there is white space inside the address');
  });

  it.each([
    ['Cyrillic a', '\u0430', 'U+0430'],
    ['zero-width space', '\u200b', 'U+200B'],
    ['full-width digit', '\uff11', 'U+FF11'],
    ['Kelvin sign', '\u212a', 'U+212A'],
    ['mathematical digit', '\u{1d7ce}', 'U+1D7CE'],
    ['right-to-left mark', '\u200f', 'U+200F'],
    ['control character', '\u0000', 'U+0000'],
  ])('refuses a look-alike: %s', (_name, character, code) => {
    const reason = refusalOf(
      family,
      'production',
      wallet.slice(0, 5) + character + wallet.slice(6),
    );
    expect(reason).toContain('character 6 is not a plain letter or digit');
    expect(reason).toContain(code);
  });

  it('refuses a look-alike that is added at the end', () => {
    expect(refusalOf(family, 'production', `${wallet}\u200b`)).toContain('U+200B');
  });

  it('refuses a payment link', () => {
    expect(refusalOf(family, 'production', `${family}:${wallet}`)).toContain('payment link');
    expect(refusalOf(family, 'production', `${wallet}?amount=1`)).toContain('payment link');
  });

  // Base58 is quadratic: parsing the second text would exceed the timeout.
  it('refuses a long text without parsing it', () => {
    expect(refusalOf(family, 'production', wallet.padEnd(129, '1'))).toContain('too long');
    expect(refusalOf(family, 'production', 'z'.repeat(10_000_000))).toContain('too long');
  });

  it('refuses the wallets of the other families', () => {
    for (const [other, address] of Object.entries(WALLET)) {
      if (address !== wallet) expect(refusalOf(family, 'production', address), other).not.toBe('');
    }
  });

  it('throws only InvalidAddress, and accepts its own output', () => {
    const texts = fc.oneof(
      anyText({ maxLength: 140 }),
      fc.string({ unit: 'grapheme-ascii', maxLength: 140 }),
      fc.base64String({ maxLength: 90 }),
      fc.stringMatching(/^(0x|bc1|tb1|T|1|3|m|2)[0-9A-Za-z]{20,60}$/),
    );
    const property = fc.property(texts, fc.constantFrom(...ENVIRONMENTS), (text, environment) => {
      let address: string;
      try {
        address = parseAddress(family, environment, text);
      } catch (error) {
        return error instanceof InvalidAddress && error.message !== '';
      }
      return parseAddress(family, environment, address) === address;
    });
    fc.assert(property, { numRuns: 200 });
  });
});

describe('InvalidAddress', () => {
  it('says why, and never repeats the text, which may be a private key', () => {
    // Bitcoin Core, key_io_valid.json: a private key.
    const secret = '5JuW2AMDYu4xVwRG9DZW18VbzQrGcd5RCgb99sS6ehJsNQXu5b9';
    for (const family of FAMILIES)
      expect(refusalOf(family, 'production', secret)).not.toContain(secret);
  });

  it('is an Error with the problem in English as the message', () => {
    const error = new InvalidAddress('address-empty');
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'InvalidAddress',
      problem: { code: 'address-empty' },
      message: 'the address is empty',
    });
  });
});
