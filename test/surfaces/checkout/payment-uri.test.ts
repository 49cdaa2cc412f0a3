import { base58 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import {
  type PaymentTarget,
  paymentUri,
  plainWalletUri,
  walletUri,
} from '#surfaces/checkout/payment-uri.ts';

const EVM = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const BTC = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const TBTC = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const SOL = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
const PAYMENT = '019e35ce-b600-7c21-9b5e-0d1f5a7c9e42';
/** Base58 of the SHA-256 of `solana-pay ` and the ID. */
const REFERENCE = '7wMJmYBFM71N4wYeYtxuDH5ex3Covi44xRrpRJp2ib5s';
const TRON = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';

function target(
  blockchainId: string,
  address: string,
  tokenAmount: bigint,
  decimals: number,
): PaymentTarget {
  return { paymentId: PAYMENT, blockchainId, address, tokenAmount, decimals };
}

describe('wallets that read a URI get address and amount', () => {
  test.each([
    [target('btc', BTC, 50_501n, 8), `bitcoin:${BTC}?amount=0.00050501`],
    [target('btc', BTC, 100_000_000n, 8), `bitcoin:${BTC}?amount=1`],
    [target('btc-test', TBTC, 1n, 8), `bitcoin:${TBTC}?amount=0.00000001`],
    [target('eth', EVM, 12_500_000_000_000_000n, 18), `ethereum:${EVM}@1?value=12500000000000000`],
    [target('eth-test', EVM, 1n, 18), `ethereum:${EVM}@11155111?value=1`],
    [target('bnb', EVM, 2n, 18), `ethereum:${EVM}@56?value=2`],
    [target('bnb-test', EVM, 3n, 18), `ethereum:${EVM}@97?value=3`],
    [target('avax', EVM, 4n, 18), `ethereum:${EVM}@43114?value=4`],
    [target('avax-test', EVM, 5n, 18), `ethereum:${EVM}@43113?value=5`],
    [
      target('sol', SOL, 250_000_001n, 9),
      `solana:${SOL}?amount=0.250000001&reference=${REFERENCE}`,
    ],
    [target('sol-dev', SOL, 1_000_000_000n, 9), `solana:${SOL}?amount=1&reference=${REFERENCE}`],
    [
      target('sol-usdc', SOL, 50_500_000n, 6),
      `solana:${SOL}?amount=50.5&spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v&reference=${REFERENCE}`,
    ],
    [
      target('sol-usdc-dev', SOL, 1n, 6),
      `solana:${SOL}?amount=0.000001&spl-token=4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU&reference=${REFERENCE}`,
    ],
  ])('%o', (payment, uri) => {
    expect(walletUri(payment)).toBe(uri);
    expect(paymentUri(payment)).toBe(uri);
  });

  test('a Solana Pay reference is a public key of its own for each payment', () => {
    const reference = (paymentId: string) => {
      const uri = walletUri({ ...target('sol', SOL, 1n, 9), paymentId }) ?? '';
      return new URL(uri).searchParams.get('reference') ?? '';
    };
    const other = reference('019e35ce-b600-7c21-9b5e-0d1f5a7c9e43');
    expect(other).not.toBe(REFERENCE);
    for (const text of [REFERENCE, other]) expect(base58.decode(text)).toHaveLength(32);
  });

  test('wallets that refuse a reference get a code without it, and other wallets no second code', () => {
    expect(plainWalletUri(target('sol', SOL, 250_000_001n, 9))).toBe(
      `solana:${SOL}?amount=0.250000001`,
    );
    expect(plainWalletUri(target('sol-usdc-dev', SOL, 1n, 6))).toBe(
      `solana:${SOL}?amount=0.000001&spl-token=4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU`,
    );
    for (const [id, address] of [
      ['btc', BTC],
      ['eth', EVM],
      ['tron-usdt', TRON],
    ] as const) {
      expect(plainWalletUri(target(id, address, 1n, 8))).toBeUndefined();
    }
  });

  test('an amount that a float cannot hold stays exact', () => {
    const huge = 123_456_789_012_345_678_901_234_567n;
    expect(walletUri(target('eth', EVM, huge, 18))).toBe(`ethereum:${EVM}@1?value=${huge}`);
  });
});

describe('where wallets mishandle URIs, the code has the address only', () => {
  test.each([
    target('eth-usdc', EVM, 50_000_000n, 6),
    target('eth-usdt', EVM, 50_000_000n, 6),
    target('eth-usdc-test', EVM, 50_000_000n, 6),
    target('eth-usdt-test', EVM, 50_000_000n, 6),
    target('avax-usdt', EVM, 50_000_000n, 6),
    target('bnb-usdt', EVM, 50_000_000n, 18),
    target('tron', TRON, 50_000_000n, 6),
    target('tron-usdt', TRON, 50_000_000n, 6),
    target('tron-usdc', TRON, 50_000_000n, 6),
    target('tron-test', TRON, 50_000_000n, 6),
    target('tron-usdt-test', TRON, 50_000_000n, 6),
    target('tron-usdc-test', TRON, 50_000_000n, 6),
  ])('%o', payment => {
    expect(walletUri(payment)).toBeUndefined();
    expect(paymentUri(payment)).toBe(payment.address);
  });
});
