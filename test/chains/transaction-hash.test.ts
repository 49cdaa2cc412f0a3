import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTransactionHash, randomTransactionHash } from '#chains/transaction-hash.ts';
import type { NetworkFamily } from '#storage/database/network-tables.ts';

const HEX = '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b';
const SIGNATURE =
  '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';
const FAMILIES = ['bitcoin', 'ethereum', 'bnb', 'avalanche', 'solana', 'tron'] as const;
/** Families with the same hash format. */
const ALIKE: Readonly<Record<NetworkFamily, string>> = {
  bitcoin: 'hex',
  tron: 'hex',
  solana: 'base58',
  ethereum: '0x',
  bnb: '0x',
  avalanche: '0x',
};

describe('a transaction hash', () => {
  test.each([
    ['bitcoin', HEX, HEX],
    ['bitcoin', HEX.toUpperCase(), HEX],
    ['tron', HEX, HEX],
    ['ethereum', `0x${HEX}`, `0x${HEX}`],
    ['bnb', `0X${HEX.toUpperCase()}`, `0x${HEX}`],
    ['avalanche', `0x${HEX}`, `0x${HEX}`],
    ['solana', SIGNATURE, SIGNATURE],
  ] as const)('of %s has one spelling: %s', (family, text, spelling) => {
    expect(parseTransactionHash(family, text)).toBe(spelling);
  });

  test.each([
    ['bitcoin', `0x${HEX}`],
    ['bitcoin', HEX.slice(1)],
    ['bitcoin', `${HEX}0`],
    ['bitcoin', `g${HEX.slice(1)}`],
    ['tron', `0x${HEX}`],
    ['ethereum', HEX],
    ['ethereum', `0x${HEX}\n`],
    ['ethereum', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    ['solana', SIGNATURE.slice(8)],
    ['solana', `${SIGNATURE}1`],
    ['solana', SIGNATURE.replace('5', '0')],
    ['solana', '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q'],
    ['solana', '1'.repeat(88)],
    ['solana', ''],
  ] as const)('of %s is not %j', (family, text) => {
    expect(parseTransactionHash(family, text)).toBeUndefined();
  });

  test('of Solana is any 64 bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), bytes => {
        const text = base58.encode(bytes);
        expect(parseTransactionHash('solana', text)).toBe(text);
      }),
    );
  });

  test('that is simulated is valid for its family only', () => {
    for (const family of FAMILIES) {
      const hash = randomTransactionHash(family);
      for (const other of FAMILIES) {
        const read = parseTransactionHash(other, hash);
        expect(read, `${family} as ${other}`).toBe(
          ALIKE[other] === ALIKE[family] ? hash : undefined,
        );
      }
    }
  });
});
