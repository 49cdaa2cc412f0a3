import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setNetwork } from '../../src/accounts/networks.ts';
import type { Merchant, Payment } from '../../src/database/tables.ts';
import { movePayment } from '../../src/payments/move-payment.ts';
import { createFixedRates } from '../../src/rates/fixed-rates.ts';
import { findPayment } from '../../src/repositories/payments.ts';
import { listOpenReservations } from '../../src/repositories/reservations.ts';
import { observeTransfer } from '../../src/settlement/observe-transfer.ts';
import { selectNetwork } from '../../src/settlement/select-network.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';

const MINUTE_MS = 60_000;

let service: TestApp;
let merchant: Merchant;
const rates = createFixedRates();

beforeAll(async () => {
  service = await startTestApp();
  const addresses = { btc: ADDRESSES.btc, eth: ADDRESSES.eth, 'eth-usdc': ADDRESSES['eth-usdc'] };
  ({ merchant } = await addMerchant(service, { addresses, commissionBps: 150 }));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const select = (payment: Payment, blockchainId: string, from = rates) =>
  selectNetwork(service.db, from, { payment, blockchainId }, now());
const newPayment = (columns: Partial<Parameters<typeof addPayment>[2]> = {}) =>
  addPayment(service.db, merchant, {
    created_at: now(),
    amount: 5000,
    offered_blockchain_ids: ['btc', 'eth', 'eth-usdc'],
    ...columns,
  });

describe('choosing a network', () => {
  test('fixes amount, address, commission and the time to pay', async () => {
    const chosen = await select(await newPayment(), 'eth-usdc');
    expect(chosen).toMatchObject({
      blockchain_id: 'eth-usdc',
      address: ADDRESSES['eth-usdc'],
      token_amount: '50000000',
      token_decimals: 6,
      commission_amount: 75,
      expires_at: new Date(service.clock.now + 30 * MINUTE_MS),
    });
  });

  test('asks the shopper for the commission where the shopper pays it', async () => {
    const chosen = await select(await newPayment({ commission_payer: 'shopper' }), 'eth-usdc');
    expect(BigInt(chosen.token_amount ?? 0) / 10_000n).toBe(5075n);
  });

  test('gives each open payment of a price an amount of its own, within a cent', async () => {
    const chosen = await Promise.all(
      Array.from({ length: 30 }, async () => select(await newPayment({ amount: 777 }), 'eth-usdc')),
    );
    const amounts = chosen.map(payment => payment.token_amount);
    expect(new Set(amounts).size).toBe(30);
    for (const amount of amounts) {
      expect(BigInt(amount ?? 0)).toBeGreaterThanOrEqual(7_770_000n);
      expect(BigInt(amount ?? 0)).toBeLessThan(7_780_000n);
    }
  });

  test('again changes nothing, another one frees the amount', async () => {
    const payment = await newPayment({ amount: 4321 });
    const first = await select(payment, 'eth-usdc');
    service.clock.now += MINUTE_MS;
    expect(await select(payment, 'eth-usdc')).toEqual(first);
    const second = await select(payment, 'btc');
    expect(second.blockchain_id).toBe('btc');
    const left = await listOpenReservations(
      service.db,
      'eth-usdc',
      ADDRESSES['eth-usdc'],
      now(),
      1000,
    );
    expect(left.map(candidate => candidate.paymentId)).not.toContain(payment.id);
  });

  test('never makes a payment wait longer than a day', async () => {
    const payment = await newPayment({
      created_at: new Date(service.clock.now - 24 * 60 * MINUTE_MS + MINUTE_MS),
      expires_at: new Date(service.clock.now + MINUTE_MS),
    });
    expect((await select(payment, 'btc')).expires_at).toEqual(
      new Date(service.clock.now + MINUTE_MS),
    );
  });

  test('uses the longest unused amount first', async () => {
    const one = await select(await newPayment({ amount: 999 }), 'eth-usdc');
    await service.db.transaction().execute(tx =>
      movePayment(tx, {
        paymentId: one.id,
        move: 'cancel',
        actor: 'test',
        reason: 'test',
        now: now(),
      }),
    );
    const two = await select(await newPayment({ amount: 999 }), 'eth-usdc');
    expect(two.token_amount).not.toBe(one.token_amount);
  });
});

describe('refuses', () => {
  test('a network that is not offered, inactive, or without an address', async () => {
    const payment = await newPayment({ offered_blockchain_ids: ['btc', 'eth', 'sol'] });
    await expect(select(payment, 'eth-usdc')).rejects.toMatchObject({ errorCode: 'E1040' });
    await expect(select(payment, 'sol')).rejects.toMatchObject({ errorCode: 'E1040' });
    await setNetwork(operatorOf(service), 'eth', { active: false });
    await expect(select(payment, 'eth')).rejects.toMatchObject({ errorCode: 'E1040' });
    await setNetwork(operatorOf(service), 'eth', { active: true });
    expect((await findPayment(service.db, payment.id))?.blockchain_id).toBeNull();
  });

  test('a payment that has ended, is past its time or has funds', async () => {
    const expired = await newPayment({ expires_at: now() });
    await expect(select(expired, 'btc')).rejects.toMatchObject({ errorCode: 'E1040' });
    const paid = await select(await newPayment({ amount: 6543 }), 'btc');
    await observeTransfer(
      service.db,
      {
        blockchainId: 'btc',
        transactionHash: 'paid',
        position: 0,
        address: ADDRESSES.btc,
        tokenAmount: BigInt(paid.token_amount ?? 0),
        blockHeight: 1,
        finality: 'seen',
      },
      now(),
    );
    await expect(select(paid, 'eth')).rejects.toMatchObject({ errorCode: 'E1040' });
  });

  test('to quote without an agreed price', async () => {
    const unpriced = createFixedRates();
    unpriced.switchOff('BTC');
    await expect(select(await newPayment(), 'btc', unpriced)).rejects.toMatchObject({
      errorCode: 'E5002',
    });
  });

  test('when every amount of the price is taken', async () => {
    // Half a per cent of 50 cents in satoshi leaves a budget of a cent: few amounts.
    const taken: unknown[] = [];
    const tryMore = async () =>
      select(await newPayment({ amount: 50, offered_blockchain_ids: ['btc'] }), 'btc');
    for (let index = 0; index < 40; index++) {
      taken.push(await tryMore().catch((error: { errorCode: string }) => error.errorCode));
    }
    const refused = taken.filter(one => one === 'E5002');
    const amounts = taken.filter(one => one !== 'E5002').map(one => (one as Payment).token_amount);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(amounts).size).toBe(amounts.length);
  });
});
