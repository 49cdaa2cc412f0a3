import { beforeEach, expect, test } from 'vitest';
import { NativeDust } from '#onchain/watching/loop/native-dust.ts';

const CHAIN = 'eth-test';
const found = (tokenAmount: bigint, blockchainId = CHAIN) => [
  { blockchainId, transactionHash: 'tx', address: 'A', tokenAmount },
];

let dust: NativeDust;

beforeEach(() => {
  dust = new NativeDust();
  dust.begin({ lease_epoch: 1, cursor_hash: 'a' });
  dust.add(CHAIN, found(5n), 'b');
  dust.add(CHAIN, [...found(7n), ...found(100n, 'eth-usdc-test')], 'c');
});

test('is kept from round to round', () => {
  dust.begin({ lease_epoch: 1, cursor_hash: 'c' });
  dust.begin({ lease_epoch: 1, cursor_hash: 'c' });
  dust.add(CHAIN, found(1n), 'd');
  expect(dust.of('A')).toBe(13n);
});

test('counts once if a transaction is retried', () => {
  dust.add(CHAIN, found(7n), 'c');
  expect(dust.of('A')).toBe(12n);
});

test.each([
  ['another worker has had the chain', { lease_epoch: 2, cursor_hash: 'c' }],
  ['the chain was reorganised', { lease_epoch: 1, cursor_hash: 'a' }],
  ['what was noted was not written', { lease_epoch: 1, cursor_hash: 'b' }],
])('is forgotten if %s', (_, state) => {
  dust.begin(state);
  expect(dust.of('A')).toBe(0n);
});
