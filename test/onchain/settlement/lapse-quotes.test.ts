import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { SMALL_LOOPS } from '#worker/small-loops.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { simulate } from '../../helpers/simulate.ts';

const HOUR_MS = 3_600_000;
/** The expiry that the older contract sets. */
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 4, 17, 12);

let service: TestApp;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestApp();
});
beforeEach(async () => {
  service.clock.now = START;
  ({ merchant } = await addMerchant(service, { commissionBps: 150 }));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const read = async ({ id }: Payment) => {
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  return payment;
};
const lapse = () => {
  const logger = { warn: () => undefined };
  const { signal } = new AbortController();
  return SMALL_LOOPS.lapseQuotes({ ...service, logger }).run(signal, () => undefined);
};
const select = (payment: Payment, blockchainId: string, rates = createFixedRates()) =>
  selectNetwork(service.db, rates, { payment, blockchainId, offering: 'simulated' }, now());

/** A payment whose expiry was fixed at creation, as the older contract does. */
const addFixed = (columns: Partial<Payment> = {}) =>
  addPayment(service.db, merchant, {
    created_at: now(),
    expires_at: new Date(service.clock.now + DAY_MS),
    expiry_fixed: true,
    amount: 5000,
    offered_blockchain_ids: ['btc', 'eth'],
    ...columns,
  });

/** A transfer of what the payment asks for. */
function pay(payment: Payment, finality: Finality, transactionHash = `tx ${payment.id}`) {
  const transfer = {
    blockchainId: payment.blockchain_id ?? '',
    transactionHash,
    position: 0,
    address: payment.address ?? '',
    tokenAmount: BigInt(payment.token_amount ?? 0),
    blockHeight: 1,
    blockHash: null,
    occurredAt: now(),
    source: 'chain' as const,
    finality,
  };
  return observeTransfer(service.db, transfer, now());
}

const UNQUOTED = {
  blockchain_id: null,
  address: null,
  token_amount: null,
  token_decimals: null,
  commission_amount: null,
  session_status: 'pending',
};

describe('a payment that waits longer than its network', () => {
  test('keeps its price for the window, and then gets another quote', async () => {
    const chosen = await select(await addFixed(), 'btc');
    expect(chosen).toMatchObject({ token_amount: '50001', commission_amount: 75 });
    const dearer = createFixedRates({ BTC: '50000' });
    service.clock.now += HOUR_MS - 1;
    await lapse();
    expect(await select(chosen, 'btc', dearer)).toEqual(chosen);

    service.clock.now += 1;
    await lapse();
    const lapsed = await read(chosen);
    expect(lapsed).toMatchObject({ ...UNQUOTED, expires_at: new Date(START + DAY_MS) });
    // Later than the minute that two polls may be apart.
    service.clock.now += 60_001;
    expect(await pay(chosen, 'final')).toMatchObject({ outcome: 'superseded', payment_id: null });
    expect((await read(chosen)).status).toBe('pending');

    const again = await select(lapsed, 'btc', dearer);
    expect(again.token_amount).toBe('100001');
    await pay(again, 'final', 'again');
    expect(await read(chosen)).toMatchObject({ status: 'successful', commission_amount: 75 });
  });

  test('gets another quote also before the worker has withdrawn the first', async () => {
    const chosen = await select(await addFixed(), 'btc');
    service.clock.now += HOUR_MS;
    const again = await select(chosen, 'btc', createFixedRates({ BTC: '50000' }));
    expect(Number(again.token_amount)).toBeGreaterThanOrEqual(100_000);
    expect(again.quoted_until).toEqual(new Date(service.clock.now + HOUR_MS));
    await lapse();
    expect(await read(chosen)).toEqual(again);
  });

  test('keeps its quote once funds are seen, and loses it when they are reversed', async () => {
    const chosen = await select(await addFixed(), 'btc');
    await pay(chosen, 'seen');
    service.clock.now += 2 * HOUR_MS;
    await lapse();
    expect(await read(chosen)).toMatchObject({ blockchain_id: 'btc', session_status: 'completed' });
    await pay(chosen, 'reversed');
    await lapse();
    expect(await read(chosen)).toMatchObject(UNQUOTED);
    await expirePayments(service.db, new Date(START + DAY_MS), 100);
    expect((await read(chosen)).status).toBe('expired');
  });

  test('is never quoted beyond its own expiry', async () => {
    const payment = await addFixed();
    service.clock.now += DAY_MS - 60_000;
    expect((await select(payment, 'btc')).quoted_until).toEqual(payment.expires_at);
  });

  test('settled directly has no commission, with or without a quote', async () => {
    const chosen = await select(await addFixed({ settlement_model: 'direct' }), 'btc');
    service.clock.now += HOUR_MS;
    await lapse();
    expect(await read(chosen)).toMatchObject({ ...UNQUOTED, commission_amount: 0 });
  });

  test('is simulated at a new price', async () => {
    const chosen = await select(await addFixed(), 'eth');
    service.clock.now += HOUR_MS;
    await simulate(service, chosen.id, 'confirm', now());
    expect(await read(chosen)).toMatchObject({ status: 'successful', blockchain_id: 'eth' });
  });
});

test('a payment that waits as long as its network has one price until its end', async () => {
  const payment = await addFixed({ expiry_fixed: false });
  const chosen = await select(payment, 'btc');
  expect(chosen.quoted_until).toBeNull();
  service.clock.now += DAY_MS;
  await lapse();
  expect(await read(chosen)).toEqual(chosen);
});

test('any number of quotes lapse, among several workers', async () => {
  const payments = await Promise.all(Array.from({ length: 120 }, () => addFixed()));
  for (const payment of payments) await select(payment, 'eth');
  service.clock.now += HOUR_MS;
  await Promise.all([lapse(), lapse(), lapse()]);
  for (const payment of payments) expect(await read(payment)).toMatchObject(UNQUOTED);
});
