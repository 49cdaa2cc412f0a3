import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { observeAll } from '#onchain/settlement/observe-all.ts';
import { observeIn } from '#onchain/settlement/observe-transfer.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { movePayment } from '#payments/move-payment.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { ADDRESSES, addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { forgetTransfers } from '../../helpers/open-payment.ts';
import { addPayment, stateOfPayment } from '../../helpers/payments.ts';

const MINUTE_MS = 60_000;

let service: TestApp;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service, { addresses: { 'eth-usdc': ADDRESSES.eth } }));
});
beforeEach(() => forgetTransfers(service.db));
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

const add = (amount?: number) =>
  addPayment(service.db, merchant, {
    ...(amount === undefined ? {} : { amount }),
    created_at: now(),
    offered_blockchain_ids: ['eth-usdc'],
    expiry_fixed: true,
    expires_at: new Date(service.clock.now + 600 * MINUTE_MS),
  });

const choose = (payment: Payment, rates = createFixedRates()) =>
  selectNetwork(
    service.db,
    rates,
    { payment, blockchainId: 'eth-usdc', offering: 'simulated' },
    now(),
  );

const transferOf = ({ address, token_amount: amount }: Payment): ObservedTransfer => ({
  blockchainId: 'eth-usdc',
  transactionHash: '0x01',
  position: 0,
  finality: 'seen',
  address: address ?? '',
  tokenAmount: BigInt(amount ?? 0),
  occurredAt: now(),
  blockHeight: 1,
  blockHash: 'one',
  source: 'chain',
});

const depositOf = ({ transactionHash }: ObservedTransfer) =>
  service.db
    .selectFrom('deposits')
    .selectAll()
    .where('transaction_hash', '=', transactionHash)
    .executeTakeFirst();

/** Waits until this many sessions wait for a lock. */
async function untilWaiting(sessions: number): Promise<void> {
  const waiting = sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await waiting.execute(service.db)).rows.length).toBe(sessions);
}

/** How a transfer is recorded: alone, or with the others of its block. */
const WAYS: readonly [string, (tx: Connection, transfer: ObservedTransfer) => Promise<unknown>][] =
  [
    ['alone', (tx, transfer) => observeIn(tx, transfer, now())],
    ['with those of its block', (tx, transfer) => observeAll(tx, [transfer], now())],
  ];

test.each(WAYS)(
  'an amount that is reserved while a transfer of it is matched %s is exact',
  async (_, observe) => {
    const payment = await add();
    const transfer = transferOf(await choose(payment));
    // The second choice gets the same amount, as if nobody had ever asked for it.
    await forgetTransfers(service.db);
    await sql`update payments set blockchain_id = null where id = ${payment.id}`.execute(
      service.db,
    );
    let observing: Promise<unknown> = Promise.resolve();
    await transact(service.db, async tx => {
      // Blocks the query of who waits at the address, but not that of who holds the amount.
      await sql`lock table merchants in access exclusive mode`.execute(tx);
      observing = transact(service.db, each => observe(each, transfer));
      await untilWaiting(1);
      await choose(payment);
    });
    await observing;
    expect(await depositOf(transfer)).toMatchObject({ outcome: 'exact', payment_id: payment.id });
  },
);

test.each(WAYS)(
  'an amount whose price has lapsed pays nothing %s while its payment is quoted again',
  async (_, observe) => {
    const payment = await add();
    const before = await choose(payment);
    service.clock.now += 120 * MINUTE_MS;
    const transfer = transferOf(before);
    let choosing: Promise<Payment> = Promise.resolve(before);
    let observing: Promise<unknown> = Promise.resolve();
    await transact(service.db, async tx => {
      await sql`select from deposit_addresses for update`.execute(tx);
      // By the time it waits for the addresses, it has locked the payment's row and released the former amount.
      choosing = choose(payment, createFixedRates({ USDC: '0.5' }));
      await untilWaiting(1);
      observing = transact(service.db, each => observe(each, transfer));
      await untilWaiting(2);
    });
    expect((await choosing).token_amount).not.toBe(before.token_amount);
    await observing;
    expect(await depositOf(transfer)).toMatchObject({ outcome: 'superseded', payment_id: null });
    expect(await stateOfPayment(service.db, payment.id)).toBe('pending/pending');
  },
);

// A wallet that cuts to whole dollars makes 50 of 50.90 as well, but 50 is too little for that payment.
test.each([9_000, 5_090])(
  'cancelling a payment of nearly the same amount during matching makes nothing ambiguous beside %i cents',
  async cents => {
    const [one, other] = [await choose(await add(5_000)), await choose(await add(cents))];
    // What a wallet with two decimals makes of the first payment's amount.
    const transfer = { ...transferOf(one), tokenAmount: 50_000_000n };
    let cancelled: Promise<unknown> | undefined;
    const by = { actor: 'test', reason: 'cancelled', now: now() };
    await transact(service.db, async tx => {
      const observed = tx.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          const isOfWaiting = result.rows.some(row => 'toleranceBps' in row);
          if (isOfWaiting && cancelled === undefined) {
            cancelled = transact(service.db, each =>
              movePayment(each, { paymentId: one.id, move: 'cancel', ...by }),
            );
            await cancelled;
          }
          return result;
        },
      });
      await observeIn(observed, transfer, now());
    });
    expect(await stateOfPayment(service.db, one.id)).toBe('cancelled/cancelled');
    expect(await depositOf(transfer)).toMatchObject({ outcome: 'under', payment_id: other.id });
  },
);
