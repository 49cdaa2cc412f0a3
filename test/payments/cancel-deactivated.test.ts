import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { SMALL_LOOPS } from '#worker/small-loops.ts';
import { addMerchant, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addOpenPayment } from '../helpers/open-payment.ts';
import { addPayment } from '../helpers/payments.ts';
import { eventsOf } from './processors/payment-history.ts';

let service: TestApp;
let asked = 1_000_000n;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const deactivate = ({ id }: Merchant) =>
  setMerchant(operatorOf(service), id, { status: 'inactive' });
const cancel = () => {
  const { signal } = new AbortController();
  const logger = { warn: () => undefined };
  return SMALL_LOOPS.cancelDeactivated({ ...service, logger }).run(signal, () => undefined);
};
const read = async ({ id }: Payment) => await findPayment(service.db, id);
function open(merchant: Merchant): Promise<Payment> {
  asked *= 2n;
  return addOpenPayment(service, merchant, asked);
}

function pay(payment: Payment, tokenAmount: bigint, finality: Finality) {
  const transfer = {
    blockchainId: payment.blockchain_id ?? '',
    transactionHash: `tx ${payment.id}`,
    position: 0,
    address: payment.address ?? '',
    tokenAmount,
    blockHeight: 1,
    blockHash: null,
    occurredAt: now(),
    source: 'chain' as const,
    finality,
  };
  return observeTransfer(service.db, transfer, now());
}

describe('when a merchant is deactivated', () => {
  test('its open payments are cancelled, with the reason, and those of others are not', async () => {
    const { merchant } = await addMerchant(service);
    const { merchant: other } = await addMerchant(service);
    const chosen = await open(merchant);
    const unchosen = await addPayment(service.db, merchant, { created_at: now() });
    const theirs = await open(other);
    await cancel();
    expect((await read(chosen))?.status).toBe('pending');

    await deactivate(merchant);
    await cancel();
    for (const payment of [chosen, unchosen]) {
      expect(await read(payment)).toMatchObject({
        status: 'cancelled',
        session_status: 'cancelled',
        cancellation_reason: 'merchant_deactivated',
      });
      expect(await eventsOf(service, payment.id)).toEqual(['cancelled']);
    }
    expect(await pay(chosen, asked / 2n, 'final')).toMatchObject({ outcome: 'late' });
    const history = await service.db
      .selectFrom('payment_transitions')
      .select(['actor', 'reason'])
      .where('payment_id', '=', chosen.id)
      .execute();
    expect(history).toEqual([{ actor: 'worker', reason: 'the merchant was deactivated' }]);
    expect((await read(theirs))?.status).toBe('pending');
  });

  test('those with funds seen continue, underpaid ones included', async () => {
    const { merchant } = await addMerchant(service);
    const seen = await open(merchant);
    await pay(seen, asked, 'seen');
    const final = await open(merchant);
    await pay(final, asked, 'final');
    // The only payment at its address, or the underpayment would be ambiguous.
    await service.db.updateTable('reservations').set({ released_at: now() }).execute();
    const under = await open(merchant);
    await pay(under, (asked * 3n) / 7n, 'final');
    await deactivate(merchant);
    await cancel();
    expect(await read(seen)).toMatchObject({ status: 'pending', session_status: 'completed' });
    expect((await read(final))?.status).toBe('successful');
    expect((await read(under))?.status).toBe('pending');

    await pay(seen, BigInt(seen.token_amount ?? 0), 'final');
    expect((await read(seen))?.status).toBe('successful');
    await expirePayments(service.db, under.expires_at, 100);
    expect((await read(under))?.status).toBe('unsuccessful');
  });

  test('any number is cancelled, by several workers, and those whose funds are reversed later too', async () => {
    const { merchant } = await addMerchant(service);
    const seen = await open(merchant);
    await pay(seen, asked, 'seen');
    const payments = await Promise.all(
      Array.from({ length: 120 }, () => addPayment(service.db, merchant, { created_at: now() })),
    );
    await deactivate(merchant);
    await Promise.all([cancel(), cancel(), cancel()]);
    for (const payment of payments) expect((await read(payment))?.status).toBe('cancelled');
    await pay(seen, BigInt(seen.token_amount ?? 0), 'reversed');
    await cancel();
    expect((await read(seen))?.status).toBe('cancelled');
  });

  test('and activated again before the worker came, nothing is cancelled', async () => {
    const { merchant } = await addMerchant(service);
    const payment = await open(merchant);
    await deactivate(merchant);
    await setMerchant(operatorOf(service), merchant.id, { status: 'active' });
    await cancel();
    expect((await read(payment))?.status).toBe('pending');
  });
});
