import { describe, expect, test } from 'vitest';
import { scriptOf } from '#chains/bitcoin/script.ts';
import type { Transaction } from '#chains/bitcoin/transaction.ts';
import { ScriptTable, transfersOf } from '#chains/bitcoin/watched-scripts.ts';
import { InvalidAddress } from '#chains/invalid-address.ts';
import type { WatchedAddress } from '#chains/transfer.ts';

describe('the script of an address', () => {
  test.each([
    // The genesis block's reward, hashed; the example of P2SH in the Bitcoin wiki; BIP-173 and BIP-350.
    ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac'],
    ['3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', 'a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87'],
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
    [
      'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
      '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
    ],
    [
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    ],
  ])('%s', (address, script) => {
    expect(scriptOf(address)).toBe(script);
  });

  test.each(['', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'bc1q', 'bc1gmk9yu'])(
    'is refused for %j',
    text => {
      expect(() => scriptOf(text)).toThrow(InvalidAddress);
    },
  );
});

const NETWORK = { id: 'btc-test', contract: null };
const TESTNET = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const REGTEST = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const SCRIPT = '0014751e76e8199196d454941c45d1b3a323f1433bd6';

const watch = (...addresses: readonly string[]): WatchedAddress[] =>
  addresses.map(address => ({ network: NETWORK, address }));

const paying = (...outputs: readonly (readonly [string, bigint])[]): Transaction => ({
  id: 'ab'.repeat(32),
  hash: new Uint8Array(32),
  isCoinbase: false,
  inputs: ['cd:0'],
  outputs: outputs.map(([script, value]) => ({ script, value })),
});

describe('transfers of a transaction', () => {
  const scripts = new ScriptTable();

  test('are reported in the watched spelling; of two spellings in the first', () => {
    const transaction = paying([SCRIPT, 7n]);
    for (const [first, ...others] of [[TESTNET], [REGTEST], [REGTEST, TESTNET]] as const) {
      const transfers = transfersOf(transaction, scripts.watched(watch(first, ...others)), null);
      expect(transfers).toEqual([
        {
          blockchainId: 'btc-test',
          transactionHash: transaction.id,
          position: 0,
          address: first,
          tokenAmount: 7n,
          block: null,
          inputs: ['cd:0'],
          maturity: 1,
        },
      ]);
    }
  });

  test('are as many as its outputs with a value to watched scripts', () => {
    const data = '6a0401020304';
    const outputs = [
      [data, 0n],
      [SCRIPT, 1n],
      [SCRIPT, 0n],
      ['51', 5n],
      [SCRIPT, 2n],
      [data, 3n],
    ] as const;
    const transfers = transfersOf(paying(...outputs), scripts.watched(watch(TESTNET)), null);
    expect(transfers.map(each => [each.position, each.tokenAmount])).toEqual([
      [1, 1n],
      [4, 2n],
    ]);
  });
});
