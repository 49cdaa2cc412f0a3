import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uncut } from '#onchain/settlement/cut-amounts.ts';
import { matchTransfer } from '#onchain/settlement/match-transfer.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { termsFor, toBaseUnits } from '#onchain/settlement/quote-amounts.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { listTransitions } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { ADDRESSES, addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { usd } from '../../payments/rates/market.ts';
import { leavings } from './leavings.ts';

const ASSETS = [
  { symbol: 'USDT', decimals: 6, price: usd('1') },
  { symbol: 'USDT', decimals: 18, price: usd('1') },
  { symbol: 'BTC', decimals: 8, price: usd('100000') },
  { symbol: 'ETH', decimals: 18, price: usd('3241.57') },
  { symbol: 'BNB', decimals: 18, price: usd('800') },
  { symbol: 'SOL', decimals: 9, price: usd('187.3') },
  { symbol: 'TRX', decimals: 6, price: usd('0.25') },
];

describe('any amounts reserved at one address', () => {
  /** Prices close to each other, and any of the amounts of each. */
  const live = fc.array(
    fc.record({
      cents: fc.oneof(fc.integer({ min: 4_990, max: 5_010 }), fc.integer({ min: 50, max: 10_000 })),
      index: fc.nat(499),
    }),
    { minLength: 1, maxLength: 8 },
  );

  test('what a wallet cuts or rounds one of them to pays that payment, or none', () => {
    let settled = 0;
    fc.assert(
      fc.property(fc.constantFrom(...ASSETS), live, (asset, drawn) => {
        const waiting = new Map(
          drawn.map(({ cents, index }) => {
            const base = toBaseUnits(cents, asset.price, asset.decimals);
            const { amounts, cutBy } = termsFor(base, asset, asset.price);
            return [amounts[index % amounts.length] ?? 0n, base - cutBy];
          }),
        );
        const all = [...waiting].map(([tokenAmount, cutFrom]) => ({
          paymentId: String(tokenAmount),
          tokenAmount,
          cutFrom,
          isRest: false,
          isFormer: false,
          aloneFrom: null,
          rest: null,
          toleranceBps: 0,
          underpaid: false,
        }));
        for (const { tokenAmount: asked, paymentId: own } of all) {
          for (const sent of leavings(asked, asset.decimals)) {
            const range = uncut(sent, asset.decimals);
            const cut = all.filter(
              ({ tokenAmount }) =>
                range !== null && tokenAmount >= range.from && tokenAmount < range.to,
            );
            // No payment that a wallet may have cut the amount of is overlooked.
            expect(cut.map(({ paymentId }) => paymentId)).toContain(own);
            expect(waiting.has(sent)).toBe(false);
            const { paymentId } = matchTransfer(sent, {
              exact: undefined,
              isSuperseded: false,
              open: all,
              cut,
              isNamed: false,
              isTooLate: false,
              isPaid: false,
              isReservedElsewhere: false,
            });
            expect([own, null]).toContain(paymentId);
            if (paymentId === own) settled += 1;
          }
        }
      }),
    );
    expect(settled).toBeGreaterThan(100);
  });
});

describe('a second payer of the same price, whose wallet cuts decimals', () => {
  let service: TestApp;
  let merchant: Merchant;
  let serial = 0;
  const rates = createFixedRates({ ETH: '4000' });
  beforeAll(async () => {
    service = await startTestApp();
    const { 'eth-test': eth, 'btc-test': btc } = ADDRESSES;
    const addresses = { 'eth-usdt-test': eth, 'eth-test': eth, 'btc-test': btc };
    ({ merchant } = await addMerchant(service, { addresses }));
  });
  afterAll(() => service.close());
  const now = () => new Date(service.clock.now);

  async function open(blockchainId: string, amount: number) {
    const columns = { amount, created_at: now(), offered_blockchain_ids: [blockchainId] };
    const payment = await addPayment(service.db, merchant, columns);
    const choice = { payment, blockchainId, offering: 'simulated' } as const;
    const { id, address, token_amount } = await selectNetwork(service.db, rates, choice, now());
    return { id, blockchainId, address: address ?? '', asked: BigInt(token_amount ?? 0) };
  }

  const send = (
    { blockchainId, address }: { blockchainId: string; address: string },
    tokenAmount: bigint,
  ) =>
    observeTransfer(
      service.db,
      {
        blockchainId,
        address,
        tokenAmount,
        transactionHash: `cut${++serial}`,
        position: 0,
        blockHeight: 1,
        blockHash: 'a',
        occurredAt: now(),
        source: 'chain' as const,
        finality: 'final',
      },
      now(),
    );

  test.each([
    // 0.3085 ETH, 50 USDT and 0.05 BTC.
    ['eth-test', 123_400, 10n ** 12n],
    ['eth-usdt-test', 5_000, 10n ** 4n],
    ['btc-test', 500_000, 100n],
  ])('on %s pays its own payment, a little short', async (network, cents, unit) => {
    const [first, second] = [await open(network, cents), await open(network, cents)];
    const sent = second.asked - (second.asked % unit);
    expect(sent).not.toBe(second.asked);
    const deposit = await send(second, sent);
    expect(deposit).toMatchObject({ outcome: 'tolerated', payment_id: second.id });
    expect((await findPayment(service.db, first.id))?.status).toBe('pending');
    expect((await findPayment(service.db, second.id))?.status).toBe('successful');
    const history = await listTransitions(service.db, second.id);
    expect(history.at(-1)?.reason).toContain('a little short, which is tolerated');
    // With only the first payment open, its cut amount pays it as well.
    expect(await send(first, first.asked - (first.asked % unit))).toMatchObject({
      outcome: 'tolerated',
      payment_id: first.id,
    });
  });

  test('a cut amount that fits several pays none, and the inbox names them', async () => {
    const [first, second] = [await open('btc-test', 500), await open('btc-test', 500)];
    const sent = second.asked - (second.asked % 100n);
    expect(first.asked - (first.asked % 100n)).toBe(sent);
    expect(await send(second, sent)).toMatchObject({ outcome: 'ambiguous', payment_id: null });
  });

  test('a cut amount may lack at most a tenth of a per cent, or a cent', async () => {
    const { id, asked, ...place } = await open('eth-usdt-test', 9_199);
    // 91.99 is asked for, and 90 sent; 91.9 is 9 cents less.
    expect(await send({ ...place }, 91_900_000n)).toMatchObject({ outcome: 'tolerated' });
    expect((await findPayment(service.db, id))?.status).toBe('successful');
    const other = await open('eth-usdt-test', 8_899);
    expect(await send(other, 88_800_000n)).toMatchObject({ outcome: 'under' });
    expect(asked).toBeGreaterThan(91_990_000n);
  });
});
