import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { assignDeposit, dismissDeposit } from '#onchain/settlement/inbox.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import { recordReturn } from '#onchain/settlement/record-return.ts';
import { valueDeposits } from '#onchain/settlement/value-deposits.ts';
import { accountingFile, readRows } from '#reports/accounting/file.ts';
import type { AccountingRow } from '#reports/accounting/rows.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { updateDeposit } from '#storage/repositories/deposits/deposits.ts';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { book } from '../../../migrations/0063_booked_deposits.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPaymentAt } from '../../helpers/open-payment.ts';
import { makeAgain } from '../../storage/database/make-again.ts';

/** The month and the merchant for which a deposit that settled no payment is booked. */

const [MARCH, APRIL] = ['2026-03', '2026-04'];
const ETHER = 10n ** 18n;

let service: TestApp;
let merchant: Merchant;
let place: { readonly blockchainId: string; readonly address: string };
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
});
beforeEach(async () => {
  ({ merchant } = await addMerchant(service, { addresses: {} }));
  place = { blockchainId: 'eth', address: `0x${merchant.id}` };
  await own(merchant);
  goTo('2026-03-31T23:59:00Z');
});
afterAll(() => service.close());

const now = () => new Date(service.clock());
function goTo(time: string) {
  service.clock.now = Date.parse(time);
}

function own({ id }: Merchant) {
  return sql`insert into account_addresses values ('eth', ${place.address}, ${id})`.execute(
    service.db,
  );
}

/** A separate transfer, which can be reported any number of times. */
function transferOf(tokenAmount: bigint, at = place) {
  serial += 1;
  const transfer = {
    ...at,
    transactionHash: `0x${serial}`,
    position: 0,
    tokenAmount,
    occurredAt: now(),
    blockHeight: 1,
    blockHash: null,
    source: 'simulation' as const,
  };
  return (finality: Finality) => observeTransfer(service.db, { ...transfer, finality }, now());
}

const dismiss = (id: string) => dismissDeposit(operatorOf(service), id, { remedy: 'kept' });

async function bookedIn(
  month: string,
  of: Merchant = merchant,
  limit = 2,
): Promise<AccountingRow[]> {
  const rows = [];
  for await (const page of readRows(service.db, of, month, limit)) rows.push(...page);
  return rows;
}

async function csvOf(month: string): Promise<string> {
  const deps = { ...service, reports: service.db, publicUrl: 'https://pay.example.test' };
  let text = '';
  for await (const part of accountingFile(deps, merchant, month, 'csv')) text += part.text;
  return text;
}

test('a deposit dismissed before it was final is booked when it became final', async () => {
  const report = transferOf(ETHER);
  await dismiss((await report('seen')).id);
  goTo('2026-04-02T00:00:00Z');
  // A file of March may have been created by now.
  expect([...(await bookedIn(MARCH)), ...(await bookedIn(APRIL))]).toEqual([]);
  await report('final');
  expect(await bookedIn(MARCH)).toEqual([]);
  expect(await bookedIn(APRIL)).toMatchObject([{ type: 'deposit', at: now().toISOString() }]);
});

test('a deposit stays booked when another merchant gets its address', async () => {
  const { id } = await transferOf(ETHER)('final');
  await dismiss(id);
  const { merchant: other } = await addMerchant(service, { addresses: {} });
  await own(other);
  expect(await bookedIn(MARCH)).toMatchObject([{ id }]);
  // From now on it is unknown whose a deposit is.
  await dismiss((await transferOf(2n * ETHER)('final')).id);
  expect(await bookedIn(MARCH)).toMatchObject([{ id }]);
  expect(await bookedIn(MARCH, other)).toEqual([]);
});

test('a part of a payment that ended without the rest is booked when the payment ends', async () => {
  const payment = await addPaymentAt(
    service,
    merchant,
    { ...place, tokenAmount: ETHER },
    { customer_reference_id: 'order 7' },
  );
  const { id } = await transferOf(ETHER / 2n)('final');
  await valueDeposits(service.db, service.rates, now(), 10);
  expect(await bookedIn(MARCH)).toEqual([]);
  goTo('2026-04-02T00:00:00Z');
  await expirePayments(service.db, now(), 10);
  const booked = {
    type: 'deposit',
    direction: 'in',
    id,
    amountCents: 200_000,
    assetAmount: '0.5',
    at: now().toISOString(),
    remedy: null,
    customerReferenceId: 'order 7',
  };
  expect(await bookedIn(MARCH)).toEqual([]);
  expect(await bookedIn(APRIL)).toMatchObject([booked]);

  // Payments that ended before this was recorded are booked as well.
  const dismissed = await dismiss((await transferOf(3n * ETHER)('final')).id);
  const undo = [
    sql`drop table booked_deposits`,
    sql`drop function book_dismissed_deposit, book_parts_of_payment cascade`,
  ];
  await makeAgain(service.db, book, undo);
  const rows = await bookedIn(APRIL);
  expect(rows).toMatchObject([booked, { id: dismissed.id, remedy: 'kept' }]);
  expect(payment.status).toBe('pending');
});

test('the return of a part is booked when it is recorded, and does not change the part’s month', async () => {
  goTo('2026-03-29T00:00:00Z');
  await addPaymentAt(
    service,
    merchant,
    { ...place, tokenAmount: ETHER },
    { customer_reference_id: 'order 8' },
  );
  const { id } = await transferOf(ETHER / 2n)('final');
  await valueDeposits(service.db, service.rates, now(), 10);
  goTo('2026-03-31T00:00:00Z');
  await expirePayments(service.db, now(), 10);
  goTo('2026-04-02T00:00:00Z');
  const march = await csvOf(MARCH);
  expect(march).toContain(id);
  await recordReturn(operatorOf(service), id, { to: 'Ada', hash: '0xback', note: 'ticket 7' });
  expect(await csvOf(MARCH)).toBe(march);
  const [part] = await bookedIn(MARCH);
  expect(part).toMatchObject({ remedy: null, direction: 'in' });
  expect(await bookedIn(APRIL)).toEqual([
    {
      ...part,
      type: 'return',
      direction: 'out',
      at: now().toISOString(),
      transactionHash: '0xback',
      remedy: 'returned',
    },
  ]);
  expect(part).toMatchObject({ amountCents: 200_000, customerReferenceId: 'order 8' });
});

test('no row is lost if a page ends between a part and its return', async () => {
  goTo('2026-03-29T00:00:00Z');
  await addPaymentAt(service, merchant, { ...place, tokenAmount: ETHER });
  const { id } = await transferOf(ETHER / 2n)('final');
  goTo('2026-03-31T00:00:00Z');
  await expirePayments(service.db, now(), 10);
  // In the same millisecond in which the part was booked, by the clock of another process.
  await recordReturn(operatorOf(service), id, { to: 'Ada', hash: '0xback' });
  for (const limit of [1, 2, 3]) {
    const rows = await bookedIn(MARCH, merchant, limit);
    expect(rows.map(row => [row.type, row.id])).toEqual([
      ['deposit', id],
      ['return', id],
    ]);
  }
});

test('a part that came on another network than the rest is booked when the payment is paid', async () => {
  const payment = await addPaymentAt(service, merchant, { ...place, tokenAmount: ETHER });
  const part = await transferOf(ETHER / 2n)('final');
  const chosen = { ...place, blockchainId: 'eth-usdc' };
  await sql`update reservations set released_at = now() where payment_id = ${payment.id}`.execute(
    service.db,
  );
  await insertReservation(service.db, payment.id, { ...chosen, tokenAmount: 10n ** 7n }, now());
  await updateOpenPayment(service.db, payment.id, {
    blockchain_id: chosen.blockchainId,
    token_amount: 10n ** 7n,
    token_decimals: 6,
  });
  const whole = await transferOf(10n ** 7n, chosen)('final');
  const rows = await bookedIn(MARCH);
  expect(rows.map(({ type, id }) => [type, id]).toSorted()).toEqual([
    ['deposit', part.id],
    ['payment', payment.id],
  ]);
  expect(rows.find(({ type }) => type === 'payment')).toMatchObject({
    transactionHash: whole.transaction_hash,
    assetAmount: '10',
  });
});

test('a payment has the price of the transfer that completed it, even if another was seen later', async () => {
  const first = await transferOf(ETHER / 2n)('final');
  await updateDeposit(service.db, first.id, { usd_price: String(2n * ETHER) });
  service.clock.now += 1_000;
  const payment = await addPaymentAt(service, merchant, { ...place, tokenAmount: ETHER });
  const second = await transferOf(ETHER / 2n)('final');
  expect(second).toMatchObject({ payment_id: payment.id, outcome: 'under' });
  await updateDeposit(service.db, second.id, { usd_price: String(3n * ETHER) });
  await assignDeposit(operatorOf(service), first.id, payment.id, { otherOrder: true });
  const [row] = await bookedIn(MARCH);
  expect(row).toMatchObject({
    transactionHash: first.transaction_hash,
    assetAmount: '1',
    priceAtFinality: '2',
  });
});

test('a deposit that was dismissed before it had a price gets one', async () => {
  const { id } = await transferOf(ETHER)('final');
  await dismiss(id);
  await valueDeposits(service.db, service.rates, now(), 10);
  expect(await bookedIn(MARCH)).toMatchObject([{ id, amountCents: 400_000 }]);
});
