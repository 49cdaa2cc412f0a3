import type { Insertable } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '#crypto/new-id.ts';
import { redeliver } from '#payments/webhooks/redeliver.ts';
import type { PaymentEventType } from '#schemas/event.ts';
import type { PaymentsTable } from '#storage/database/payment-tables.ts';
import { confirmedRestoreOf } from '#storage/repositories/restores.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { addPayment } from '../../helpers/payments.ts';
import { recordEvent } from '../../helpers/record-event.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { openShop, type Shop } from './shop.ts';

/** Minutes of a restore: rows after 0 are lost, the lost time ended at 60, and the restore was confirmed at 120. */
const [END, CONFIRMED] = [60, 120];

let database: TestDatabase;
let shop: Shop;
let receiver: Receiver;
beforeAll(async () => {
  database = await cloneDatabase();
});
beforeEach(async () => {
  [shop, receiver] = await Promise.all([openShop(database), startReceiver()]);
  await shop.addEndpoint(receiver.url);
});
afterEach(() => receiver.close());
afterAll(() => database.drop());

const at = (minutes: number) => new Date(Date.UTC(2026, 4, 17, 12) + minutes * 60_000);

/** @param end Minute in which the lost time ended; null if unknown. */
function restoreUntil(end: number | null) {
  return confirmedRestoreOf({
    id: newId(),
    number: 2,
    noticed_by: 'service',
    noticed_at: at(90),
    restored_to: at(0),
    begun_at: at(CONFIRMED),
    lost_until: end === null ? null : at(end),
  });
}

interface Case {
  readonly type: PaymentEventType;
  /** Minute of the event. */
  readonly told?: number;
  readonly created?: number;
  /** Minute in which the payment expires, if it does. */
  readonly expired?: number;
  /** The earliest minute in which funds came. */
  readonly paid?: number;
  readonly columns?: Partial<Insertable<PaymentsTable>>;
}

async function tell({ type, told = 121, created = -10, expired, paid, columns }: Case) {
  const { db, merchant } = shop;
  const ended = { status: 'expired', session_status: 'expired' } as const;
  const payment = await addPayment(db, merchant, {
    created_at: at(created),
    expires_at: at(expired ?? 200),
    ...(expired === undefined ? {} : ended),
    ...columns,
  });
  if (paid !== undefined) {
    await db
      .insertInto('deposits')
      .values({
        id: newId(),
        blockchain_id: 'eth',
        transaction_hash: newId(),
        position: 0,
        address: '0x1',
        token_amount: 1n,
        block_height: 1,
        block_hash: '0x1',
        state: 'final',
        outcome: 'exact',
        payment_id: payment.id,
        dismissed_at: null,
        observed_at: at(told),
        updated_at: at(told),
        inputs: null,
        occurred_at: at(told),
        earliest_at: at(paid),
      })
      .execute();
  }
  await db.transaction().execute(tx => recordEvent(tx, type, payment, at(told)));
  shop.clock.now = at(told).getTime() + 1_000;
}

const statuses = async () => (await shop.deliveries()).map(({ status }) => status);
const regulated = { flow: 'regulated', settlement_model: null } as const;

describe('after a restore, a webhook that may have been sent before is withheld', () => {
  test.each<[string, number | null, Case]>([
    ['of funds that came before', END, { type: 'payment_prompt.successful', paid: 59 }],
    ['of funds that came within a minute', END, { type: 'payment_prompt.detected', paid: 61 }],
    ['of a time that had passed', END, { type: 'payment_prompt.expired', expired: 50 }],
    ['of funds before the confirmation', null, { type: 'payment_prompt.successful', paid: 119 }],
    ['of what a processor says', END, { type: 'payment_prompt.successful', columns: regulated }],
  ])('%s', async (_, end, each) => {
    await tell(each);
    await shop.attemptAll({ restore: () => restoreUntil(end) });
    expect(await statuses()).toEqual(['withheld']);
    expect(receiver.requests).toEqual([]);
    // It can be sent by hand.
    const [delivery] = await shop.deliveries();
    await redeliver(shop.operator, delivery?.id ?? '');
    await shop.attemptAll({ restore: () => restoreUntil(end) });
    expect(await statuses()).toEqual(['withheld', 'succeeded']);
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('any other webhook is sent', () => {
  test.each<[string, number | null, Case]>([
    ['of funds that came later', END, { type: 'payment_prompt.successful', paid: 62 }],
    ['of a time that has passed since', END, { type: 'payment_prompt.expired', expired: 70 }],
    ['of funds after the confirmation', null, { type: 'payment_prompt.successful', paid: 121 }],
    ['of a payment made since', END, { type: 'payment_prompt.created', created: 121 }],
    [
      'of a payment made since, with a block whose clock lags',
      END,
      { type: 'payment_prompt.successful', created: 121, paid: 59, told: 122 },
    ],
    ['of a cancellation', END, { type: 'payment_prompt.cancelled' }],
    [
      'of what a processor says later',
      END,
      { type: 'payment_prompt.successful', columns: regulated, told: 136 },
    ],
  ])('%s', async (_, end, each) => {
    await tell(each);
    await shop.attemptAll({ restore: () => restoreUntil(end) });
    expect(await statuses()).toEqual(['succeeded']);
  });

  test('where nothing was restored', async () => {
    await tell({ type: 'payment_prompt.successful', paid: 59 });
    await shop.attemptAll({ restore: () => null });
    expect(await statuses()).toEqual(['succeeded']);
  });
});
