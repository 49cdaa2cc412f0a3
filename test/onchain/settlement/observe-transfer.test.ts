import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { solanaReference } from '#chains/solana-reference.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { assignDeposit, dismissDeposit } from '#onchain/settlement/inbox.ts';
import { observeIn, observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality, ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { movePayment } from '#payments/move-payment.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Database } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import {
  insertReservation,
  releaseReservation,
} from '#storage/repositories/deposits/reservations.ts';
import { lockPayment, updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addOpenPayment, releaseAll } from '../../helpers/open-payment.ts';
import { stateOfPayment } from '../../helpers/payments.ts';
import { runs } from '../../helpers/property-runs.ts';
import { SOON } from '../../helpers/soon.ts';

const HOUR_MS = 60 * 60 * 1000;

let service: TestApp;
let merchant: Merchant;
let serial = 0;
/** Amounts far apart, so that no test matches the payments of another. */
let asked = 1_000_000n;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(() => {
  asked *= 2n;
  // Deposits that earlier tests left in the inbox are older than any payment of this one.
  service.clock.now += 1_000;
  return releaseAll(service.db);
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const transfer = (tokenAmount: bigint, finality: Finality, hash = `tx${++serial}`) =>
  ({
    blockchainId: 'btc',
    transactionHash: hash,
    position: 0,
    address: ADDRESSES.btc,
    tokenAmount,
    blockHeight: null,
    blockHash: null,
    occurredAt: now(),
    source: 'simulation',
    finality,
  }) satisfies ObservedTransfer;
const observe = (told: ObservedTransfer) => observeTransfer(service.db, told, now());
const stateOf = (id: string) => stateOfPayment(service.db, id);
const open = () => addOpenPayment(service, merchant, asked);

test('a reference names the payment, also when a reversed transfer comes back', async () => {
  const [, named] = [await open(), await addOpenPayment(service, merchant, asked + asked / 500n)];
  const seen = {
    ...transfer(asked + asked / 100n, 'seen'),
    references: [solanaReference(named.id)],
  };
  const other = transfer(asked + asked / 100n, 'seen');
  expect(await observe(other)).toMatchObject({ outcome: 'ambiguous', payment_id: null });
  expect(await observe(seen)).toMatchObject({ outcome: 'over', payment_id: named.id });
  expect(await observe({ ...seen, finality: 'reversed' })).toMatchObject({ payment_id: null });
  expect(await observe(seen)).toMatchObject({ outcome: 'over', payment_id: named.id });
  expect(await stateOf(named.id)).toBe('pending/completed');
});

test('a reference gives no payment the amount that another one asks for', async () => {
  const more = asked + asked / 100n;
  const [named, other] = [await open(), await addOpenPayment(service, merchant, more)];
  const marked = (amount: bigint) => ({
    ...transfer(amount, 'final'),
    references: [solanaReference(named.id)],
  });
  expect(await observe(marked(more))).toMatchObject({ outcome: 'ambiguous', payment_id: null });
  await cancel(other.id);
  expect(await observe(marked(more))).toMatchObject({ outcome: 'late', payment_id: null });
  expect(await stateOf(named.id)).toBe('pending/pending');
  // What the payment itself asked for before its quote was renewed; that price was promised for an hour.
  await releaseReservation(service.db, named.id, now());
  const less = asked - asked / 100n;
  const slot = { blockchainId: 'btc', address: ADDRESSES.btc, tokenAmount: less };
  await insertReservation(service.db, named.id, slot, now());
  await updateOpenPayment(service.db, named.id, { token_amount: less });
  await updateOpenPayment(service.db, named.id, {
    expires_at: new Date(service.clock.now + 24 * HOUR_MS),
  });
  service.clock.now += HOUR_MS + 61_000;
  for (const late of [transfer(asked, 'final'), marked(asked)]) {
    expect(await observe(late)).toMatchObject({ outcome: 'superseded', payment_id: null });
  }
  service.clock.now -= 2_000;
  expect(await observe(marked(asked))).toMatchObject({ outcome: 'exact', payment_id: named.id });
});

test('a transfer that names a funded payment is for no other payment', async () => {
  const more = asked + asked / 100n;
  const [{ id }, near] = [await open(), await addOpenPayment(service, merchant, asked + 1n)];
  const marked = (amount: bigint) => ({
    ...transfer(amount, 'final'),
    references: [solanaReference(id)],
  });
  await observe(transfer(asked, 'seen'));
  expect(await observe(marked(asked))).toMatchObject({ outcome: 'duplicate', payment_id: null });
  expect(await observe(marked(more))).toMatchObject({ outcome: 'unknown', payment_id: null });
  const exact = marked(asked + 1n);
  expect(await observe(exact)).toMatchObject({ outcome: 'ambiguous', payment_id: null });
  expect(await stateOf(near.id)).toBe('pending/pending');
});

describe('an exact transfer', () => {
  test('is detected when seen and successful when final', async () => {
    const { id } = await open();
    const seen = transfer(asked, 'seen');
    expect(await observe(seen)).toMatchObject({ outcome: 'exact', payment_id: id });
    expect(await stateOf(id)).toBe('pending/completed');
    await observe({ ...seen, finality: 'final', blockHeight: 7 });
    expect(await stateOf(id)).toBe('successful/completed');
    expect(await findPayment(service.db, id)).toMatchObject({
      transaction_hash: seen.transactionHash,
      paid_at: now(),
      last_error_code: null,
    });
  });

  test('is successful at once when it is first seen final', async () => {
    const { id } = await open();
    await observe(transfer(asked, 'final'));
    expect(await stateOf(id)).toBe('successful/completed');
  });

  test('is recorded once, however often and in whatever order it is reported', async () => {
    const { id } = await open();
    const told = transfer(asked, 'final');
    await Promise.all(
      (['final', 'seen', 'final', 'seen', 'reversed', 'final'] as const).map(finality =>
        observe({ ...told, finality }),
      ),
    );
    await observe(told);
    const deposits = await service.db
      .selectFrom('deposits')
      .selectAll()
      .where('transaction_hash', '=', told.transactionHash)
      .execute();
    expect(deposits).toHaveLength(1);
    expect(await stateOf(id)).toBe('successful/completed');
  });

  test.each(['seen', 'reversed', 'failed'] as const)(
    'that is final stays final, and is not %s',
    async finality => {
      const { id } = await open();
      const told = transfer(asked, 'final');
      const deposit = await observe(told);
      expect(await observe({ ...told, finality })).toEqual(deposit);
      expect(await stateOf(id)).toBe('successful/completed');
    },
  );

  test('reversed by a reorganisation opens the payment again, and may come back', async () => {
    const { id } = await open();
    const told = transfer(asked, 'seen');
    await observe(told);
    await observe({ ...told, finality: 'reversed' });
    expect(await stateOf(id)).toBe('pending/pending');
    expect(await findPayment(service.db, id)).toMatchObject({
      transaction_hash: null,
      last_error_code: 'transfer_reversed',
    });
    await observe({ ...told, finality: 'seen' });
    await observe({ ...told, finality: 'final' });
    expect(await stateOf(id)).toBe('successful/completed');
  });

  test('that failed on chain ends the payment as unsuccessful', async () => {
    const { id } = await open();
    await observe(transfer(asked, 'failed'));
    expect(await stateOf(id)).toBe('unsuccessful/completed');
    expect((await findPayment(service.db, id))?.last_error_code).toBe('transaction_reverted');
  });

  test('replaced by two transfers, is paid by the one that came in time', async () => {
    const payment = await open();
    const first = transfer(asked, 'seen');
    await observe(first);
    const late = {
      ...transfer(asked, 'seen'),
      occurredAt: new Date(payment.expires_at.getTime() + HOUR_MS),
    };
    const inTime = transfer(asked, 'seen');
    expect(await observe(late)).toMatchObject({ outcome: 'duplicate' });
    expect(await observe(inTime)).toMatchObject({ outcome: 'duplicate' });
    await observe({ ...first, finality: 'reversed' });
    expect(await stateOf(payment.id)).toBe('pending/completed');
    expect(await findPayment(service.db, payment.id)).toMatchObject({
      transaction_hash: inTime.transactionHash,
    });
  });

  test('replaced by its wallet, pays with the replacement', async () => {
    const { id } = await open();
    const first = transfer(asked, 'seen');
    const replacement = transfer(asked, 'seen');
    await observe(first);
    expect(await observe(replacement)).toMatchObject({ outcome: 'duplicate', payment_id: null });
    await observe({ ...first, finality: 'reversed' });
    expect(await stateOf(id)).toBe('pending/completed');
    await observe({ ...replacement, finality: 'final' });
    expect(await findPayment(service.db, id)).toMatchObject({
      status: 'successful',
      transaction_hash: replacement.transactionHash,
    });
  });

  test('reversed, leaves its payment to another amount that came meanwhile, and names it', async () => {
    const [{ id }, other] = [await open(), await addOpenPayment(service, merchant, asked * 8n)];
    const first = transfer(asked, 'seen');
    await observe(first);
    const named = {
      ...transfer(asked + asked / 100n, 'final'),
      references: ['a program', solanaReference(id)],
    };
    expect(await observe(named)).toMatchObject({ outcome: 'unknown', payment_id: null });
    await observe({ ...first, finality: 'reversed' });
    expect(await findPayment(service.db, id)).toMatchObject({
      status: 'successful',
      transaction_hash: named.transactionHash,
    });
    expect(await stateOf(other.id)).toBe('pending/pending');
  });

  test('reversed, leaves its payment to what came meanwhile, in that order, as if it had never existed', async () => {
    const payment = await open();
    const first = transfer(asked, 'seen');
    await observe(first);
    const told = {
      half: transfer(asked / 2n, 'final'),
      late: {
        ...transfer(asked + asked / 100n, 'final'),
        occurredAt: new Date(payment.expires_at.getTime() + HOUR_MS),
      },
      returned: transfer(asked, 'final'),
      more: transfer(asked + asked / 100n, 'final'),
      exact: transfer(asked, 'final'),
    };
    for (const each of Object.values(told)) {
      expect(await observe(each)).toMatchObject({ payment_id: null });
    }
    const returned = await observe(told.returned);
    const remedy = { remedy: 'returned', to: 'A', hash: 'b' } as const;
    await dismissDeposit(operatorOf(service), returned.id, remedy);
    await observe({ ...first, finality: 'reversed' });
    expect(await findPayment(service.db, payment.id)).toMatchObject({
      status: 'successful',
      transaction_hash: told.more.transactionHash,
    });
    const payments = {
      half: payment.id,
      late: null,
      returned: null,
      more: payment.id,
      exact: null,
    };
    for (const [name, each] of Object.entries(told)) {
      const payment_id = payments[name as keyof typeof told];
      expect(await observe(each), name).toMatchObject({ payment_id });
    }
  });

  test('reversed, leaves its payment to no earlier transfer, and to none for another payment', async () => {
    const [{ id }, other] = [
      await open(),
      await addOpenPayment(service, merchant, asked + asked / 200n),
    ];
    const ambiguous = transfer(asked + asked / 100n, 'final');
    expect(await observe(ambiguous)).toMatchObject({ outcome: 'ambiguous' });
    const first = transfer(asked, 'seen');
    await observe(first);
    await observe({ ...first, finality: 'reversed' });
    expect(await observe(ambiguous)).toMatchObject({ outcome: 'ambiguous', payment_id: null });
    expect([await stateOf(id), await stateOf(other.id)]).toEqual([
      'pending/pending',
      'pending/pending',
    ]);
  });

  test('keeps its payment from expiring', async () => {
    const { id } = await open();
    await observe(transfer(asked, 'seen'));
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    expect(await stateOf(id)).toBe('pending/completed');
  });
});

describe('another amount', () => {
  test('of at most 2 % more settles the one open payment it fits', async () => {
    const { id } = await open();
    const most = asked + asked / 50n;
    expect(await observe(transfer(most + 1n, 'final'))).toMatchObject({
      outcome: 'over',
      payment_id: null,
    });
    expect(await stateOf(id)).toBe('pending/pending');
    expect(await observe(transfer(most, 'final'))).toMatchObject({
      outcome: 'over',
      payment_id: id,
    });
    expect(await stateOf(id)).toBe('successful/completed');
  });

  test('that several open payments could claim goes to the inbox', async () => {
    const one = await open();
    const two = await addOpenPayment(service, merchant, asked + 1n);
    expect(await observe(transfer(asked + 2n, 'final'))).toMatchObject({
      outcome: 'ambiguous',
      payment_id: null,
    });
    expect(await observe(transfer(asked - 2n, 'final'))).toMatchObject({ outcome: 'ambiguous' });
    expect([await stateOf(one.id), await stateOf(two.id)]).toEqual([
      'pending/pending',
      'pending/pending',
    ]);
  });

  test('that is too little is noted, never added up, and unsuccessful at expiry', async () => {
    const { id } = await open();
    const half = (asked * 3n) / 7n;
    await observe(transfer(half, 'final'));
    expect(await observe(transfer(asked - half - 2_000n, 'final'))).toMatchObject({
      outcome: 'under',
      payment_id: null,
    });
    expect(await stateOf(id)).toBe('pending/pending');
    expect((await findPayment(service.db, id))?.last_error_code).toBe('amount_underpaid');
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    expect(await stateOf(id)).toBe('unsuccessful/expired');
  });

  test('that is too little, followed by the exact one, is successful without an error', async () => {
    const { id } = await open();
    await observe(transfer((asked * 3n) / 7n, 'final'));
    await observe(transfer(asked, 'final'));
    expect(await findPayment(service.db, id)).toMatchObject({
      status: 'successful',
      last_error_code: null,
    });
  });

  test('that fits no payment is unknown', async () => {
    expect(await observe(transfer(asked, 'final'))).toMatchObject({
      outcome: 'unknown',
      payment_id: null,
    });
  });
});

describe('transfers for other payments', () => {
  test('a slight underpayment of one payment is no overpayment of another', async () => {
    const cheaper = await open();
    const dearer = await addOpenPayment(service, merchant, asked + asked / 100n);
    expect(await observe(transfer(asked + asked / 200n, 'final'))).toMatchObject({
      outcome: 'ambiguous',
      payment_id: null,
    });
    expect([await stateOf(cheaper.id), await stateOf(dearer.id)]).toEqual([
      'pending/pending',
      'pending/pending',
    ]);
  });

  test('dust pays no payment', async () => {
    const { id } = await open();
    expect(await observe(transfer(asked / 101n, 'final'))).toMatchObject({ outcome: 'unknown' });
    expect((await findPayment(service.db, id))?.last_error_code).toBeNull();
  });

  test('a second transfer is a duplicate after the payment is paid, and late after it has ended', async () => {
    await open();
    await observe(transfer(asked, 'final'));
    const again = transfer(asked, 'seen');
    expect(await observe(again)).toMatchObject({ outcome: 'duplicate', payment_id: null });
    expect(await observe({ ...again, finality: 'final' })).toMatchObject({ outcome: 'duplicate' });
    asked += 1n;
    const { id } = await open();
    await cancel(id);
    expect(await observe(transfer(asked, 'final'))).toMatchObject({ outcome: 'late' });
  });

  test('a duplicate of an earlier payment never pays a later one', async () => {
    await open();
    await observe(transfer(asked, 'final'));
    await observe(transfer(asked, 'final'));
    await releaseAll(service.db);
    service.clock.now += 1000;
    const later = await open();
    const own = transfer(asked, 'seen');
    await observe(own);
    await observe({ ...own, finality: 'reversed' });
    expect(await stateOf(later.id)).toBe('pending/pending');
  });

  test('a payment is paid even if its customer chooses another network meanwhile', async () => {
    const { id } = await open();
    const [deposit] = await service.db.transaction().execute(async tx => {
      await lockPayment(tx, id);
      const observed = observe(transfer(asked, 'final'));
      // The transfer has read the reservation, and waits for the lock on the payment's row.
      await blocked(service.db);
      await releaseReservation(tx, id, now());
      await updateOpenPayment(tx, id, { blockchain_id: 'eth', address: ADDRESSES.eth });
      return [observed];
    });
    expect(await deposit).toMatchObject({ outcome: 'exact', payment_id: id });
    expect(await findPayment(service.db, id)).toMatchObject({
      status: 'successful',
      blockchain_id: 'btc',
      address: ADDRESSES.btc,
    });
  });

  test('an exact amount is found among any number of other payments', async () => {
    const { id } = await open();
    const { id: other } = await addOpenPayment(service, merchant, asked * 3n);
    await sql`
      with made as (
        insert into payments (id, merchant_id, branch_id, created_by, flow, amount, commission_bps,
          commission_payer, settlement_model, offered_blockchain_ids, expires_at, created_at)
        select gen_random_uuid(), merchant_id, branch_id, created_by, flow, amount, commission_bps,
          commission_payer, settlement_model, offered_blockchain_ids,
          expires_at + interval '30 days', created_at
        from payments, generate_series(1, 1200) where id = ${other} returning id
      )
      insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at)
      select id, 'btc', ${ADDRESSES.btc}, ${(asked * 5n).toString()}::numeric + row_number() over (),
             ${now()} from made`.execute(service.db);
    const last = await addOpenPayment(service, merchant, asked * 7n);
    expect(await observe(transfer(asked * 7n, 'final'))).toMatchObject({
      outcome: 'exact',
      payment_id: last.id,
    });
    expect(await stateOf(id)).toBe('pending/pending');
  });
});

describe('a transaction that failed', () => {
  test('and succeeds in a replacement block goes to the inbox', async () => {
    const { id } = await open();
    const told = transfer(asked, 'failed');
    await observe(told);
    expect(await observe({ ...told, finality: 'final' })).toMatchObject({
      outcome: 'late',
      payment_id: null,
      state: 'final',
    });
    expect(await stateOf(id)).toBe('unsuccessful/completed');
  });

  test('does not hide an underpayment', async () => {
    const { id } = await open();
    await observe(transfer((asked * 3n) / 7n, 'final'));
    await observe(transfer((asked * 2n) / 7n, 'failed'));
    expect((await findPayment(service.db, id))?.last_error_code).toBe('amount_underpaid');
    const exact = transfer(asked, 'seen');
    await observe(exact);
    await observe({ ...exact, finality: 'reversed' });
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    expect(await stateOf(id)).toBe('unsuccessful/expired');
  });
});

describe('a transfer for a payment that has ended', () => {
  test('is late, and the payment stays as it is', async () => {
    const { id } = await open();
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    expect(await stateOf(id)).toBe('expired/expired');
    expect(await observe(transfer(asked, 'final'))).toMatchObject({
      outcome: 'late',
      payment_id: null,
    });
    expect(await stateOf(id)).toBe('expired/expired');
  });

  test('is late for 24 hours, and then judged like any other', async () => {
    const ended = await open();
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    const released = service.clock.now + 2 * HOUR_MS;
    const start = service.clock.now;
    try {
      // A later customer is asked for slightly less at the same address, and this transfer rounds that up.
      service.clock.now = released + 24 * HOUR_MS - 1;
      const later = await addOpenPayment(service, merchant, asked - 1n);
      expect(await observe(transfer(asked, 'final'))).toMatchObject({ outcome: 'late' });
      service.clock.now += 1;
      const maybe = { ...transfer(asked, 'final'), earliestAt: new Date(service.clock.now - 1) };
      expect(await observe(maybe)).toMatchObject({ outcome: 'late' });
      expect(await observe(transfer(asked, 'final'))).toMatchObject({
        outcome: 'over',
        payment_id: later.id,
      });
      expect(await stateOf(later.id)).toBe('successful/completed');
      expect(await stateOf(ended.id)).toBe('expired/expired');
    } finally {
      service.clock.now = start;
    }
  });

  test('counts from when the transfer was first seen, however late it becomes final', async () => {
    await open();
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    const start = service.clock.now;
    try {
      const told = transfer(asked, 'seen');
      expect(await observe(told)).toMatchObject({ outcome: 'late' });
      service.clock.now += 48 * HOUR_MS;
      await addOpenPayment(service, merchant, asked - 1n);
      await observe({ ...told, finality: 'reversed' });
      expect(await observe({ ...told, finality: 'final' })).toMatchObject({ outcome: 'late' });
    } finally {
      service.clock.now = start;
    }
  });

  test('a second time is a duplicate while the first is not final', async () => {
    await open();
    await observe(transfer(asked, 'seen'));
    expect(await observe(transfer(asked, 'final'))).toMatchObject({ outcome: 'duplicate' });
  });

  test('seen, reversed, and back only after the end, is late', async () => {
    const { id } = await open();
    const told = transfer(asked, 'seen');
    await observe(told);
    await observe({ ...told, finality: 'reversed' });
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    expect(await observe({ ...told, finality: 'final' })).toMatchObject({
      outcome: 'late',
      payment_id: null,
    });
    expect(await stateOf(id)).toBe('expired/expired');
  });
});

describe('the time of a transfer', () => {
  const MINUTE_MS = 60_000;
  const at = (told: ObservedTransfer, occurredAt: number) => ({
    ...told,
    source: 'chain' as const,
    occurredAt: new Date(occurredAt),
  });

  test('found later pays the payment that had the amount then, not one that has it since', async () => {
    const start = service.clock.now;
    try {
      const former = await open();
      service.clock.now += 10 * MINUTE_MS;
      await cancel(former.id);
      service.clock.now += MINUTE_MS;
      const later = await open();
      service.clock.now += MINUTE_MS;
      const told = at(transfer(asked, 'final'), start + 5 * MINUTE_MS);
      expect(await observe(told)).toMatchObject({ outcome: 'late', payment_id: null });
      expect(await stateOf(later.id)).toBe('pending/pending');
      // An underpayment of the former payment does not go to the later one either.
      const less = at(transfer((asked * 3n) / 7n, 'seen'), start + 5 * MINUTE_MS);
      expect(await observe(less)).toMatchObject({ outcome: 'late', payment_id: null });
      const before = at(transfer(asked, 'final'), start - MINUTE_MS);
      expect(await observe(before)).toMatchObject({ outcome: 'unknown' });
      expect(await stateOf(later.id)).toBe('pending/pending');
    } finally {
      service.clock.now = start;
    }
  });

  test('of exactly what a later payment asks for is no overpayment or underpayment of an earlier one', async () => {
    const start = service.clock.now;
    const tolerate = (underpaymentToleranceBps: number) =>
      setMerchant(operatorOf(service), merchant.id, { underpaymentToleranceBps });
    try {
      await tolerate(50);
      for (const difference of [asked / 100n, -(asked / 300n), -(asked / 3n)]) {
        asked *= 2n;
        service.clock.now += MINUTE_MS;
        const first = await open();
        service.clock.now += 2 * MINUTE_MS;
        const second = await addOpenPayment(service, merchant, asked + difference);
        service.clock.now += MINUTE_MS;
        const behind = at(transfer(asked + difference, 'final'), service.clock.now - 2 * MINUTE_MS);
        expect(await observe(behind)).toMatchObject({ outcome: 'ambiguous', payment_id: null });
        expect([await stateOf(first.id), await stateOf(second.id)]).toEqual([
          'pending/pending',
          'pending/pending',
        ]);
        expect((await findPayment(service.db, first.id))?.last_error_code).toBeNull();
        // This holds once the other payment has ended, too.
        await cancel(second.id);
        const again = at(transfer(asked + difference, 'final'), service.clock.now - 2 * MINUTE_MS);
        expect(await observe(again)).toMatchObject({ outcome: 'ambiguous', payment_id: null });
        await cancel(first.id);
      }
    } finally {
      service.clock.now = start;
      await tolerate(0);
    }
  });

  test('of a customer who chose the network again has the amount as before', async () => {
    const start = service.clock.now;
    try {
      const { id } = await open();
      service.clock.now += 10 * MINUTE_MS;
      await releaseReservation(service.db, id, now());
      service.clock.now += MINUTE_MS;
      const slot = { blockchainId: 'btc', address: ADDRESSES.btc, tokenAmount: asked };
      await insertReservation(service.db, id, slot, now());
      const told = at(transfer(asked, 'seen'), start + 5 * MINUTE_MS);
      expect(await observe(told)).toMatchObject({ outcome: 'exact', payment_id: id });
    } finally {
      service.clock.now = start;
    }
  });

  test('up to a minute after the end is in time, and any later is late, though the payment is still open', async () => {
    for (const [amount, late] of [
      [0n, 'late'],
      [-(asked / 3n), 'unknown'],
      [asked / 100n, 'unknown'],
    ] as const) {
      asked *= 2n;
      const { id, expires_at } = await open();
      const end = expires_at.getTime() + MINUTE_MS;
      const overdue = at(transfer(asked + amount, 'seen'), end + 1);
      expect(await observe(overdue)).toMatchObject({ outcome: late, payment_id: null });
      const inTime = at(transfer(asked + amount, 'seen'), end);
      expect(await observe(inTime)).toMatchObject({ payment_id: id });
      await cancel(id);
    }
  });

  test('is, in rows of earlier releases, when they were first seen', async () => {
    const { id } = await open();
    const told = at(transfer(asked, 'seen'), service.clock.now);
    const { id: depositId } = await observe(told);
    await observe({ ...told, finality: 'reversed' });
    await service.db
      .updateTable('deposits')
      .set({ occurred_at: null })
      .where('id', '=', depositId)
      .execute();
    expect(await observe({ ...told, occurredAt: new Date(0) })).toMatchObject({ payment_id: id });
  });
});

describe('a transfer that a watcher reports', () => {
  const watched = (finality: Finality, hash?: string) => ({
    ...transfer(asked, finality, hash),
    source: 'chain' as const,
    blockHeight: 7 as number | null,
    blockHash: 'a' as string | null,
    inputs: ['00:1'],
  });

  test('is kept with its block, which may change while it is seen', async () => {
    await open();
    const told = watched('seen');
    const happened = { occurred_at: now(), source: 'chain', inputs: ['00:1'] };
    expect(await observe(told)).toMatchObject({ block_height: 7, block_hash: 'a', ...happened });
    const later = { ...told, occurredAt: new Date(service.clock.now + HOUR_MS) };
    for (const place of [
      { blockHeight: 7, blockHash: 'b' },
      { blockHeight: null, blockHash: null },
      { blockHeight: 9, blockHash: 'c' },
    ]) {
      const { blockHeight: block_height, blockHash: block_hash } = place;
      const moved = { ...happened, block_height, block_hash, state: 'seen', outcome: 'exact' };
      expect(await observe({ ...later, ...place })).toMatchObject(moved);
    }
    await observe({ ...told, finality: 'final', blockHeight: 9, blockHash: 'c' });
    expect(await observe(told)).toMatchObject({ block_height: 9, block_hash: 'c' });
  });

  test('that failed ends no payment, unless it was seen before', async () => {
    const { id } = await open();
    const stranger = watched('failed');
    expect(await observe(stranger)).toMatchObject({ outcome: 'unknown', payment_id: null });
    const undone = watched('seen');
    await observe(undone);
    await observe({ ...undone, finality: 'reversed' });
    await observe({ ...undone, finality: 'failed' });
    expect(await stateOf(id)).toBe('pending/pending');
    expect(await observe({ ...stranger, finality: 'seen' })).toMatchObject({ payment_id: id });
    await observe({ ...stranger, finality: 'failed' });
    expect(await stateOf(id)).toBe('unsuccessful/completed');
  });

  test('is recorded in the caller’s transaction, or not at all', async () => {
    const { id } = await open();
    const told = watched('final');
    await expect(
      transact(service.db, async tx => {
        await observeIn(tx, told, now());
        throw new Error('the lease is lost');
      }),
    ).rejects.toThrow('the lease is lost');
    expect(await stateOf(id)).toBe('pending/pending');
    await transact(service.db, tx => observeIn(tx, told, now()));
    expect(await stateOf(id)).toBe('successful/completed');
  });

  test('that is a duplicate stays one when it becomes final', async () => {
    await open();
    const first = watched('seen');
    const second = watched('seen');
    await observe(first);
    await observe(second);
    await observe({ ...first, finality: 'final' });
    expect(await observe({ ...second, finality: 'final' })).toMatchObject({
      state: 'final',
      outcome: 'duplicate',
      payment_id: null,
    });
  });
});

describe('the inbox', () => {
  test('gives a deposit to a pending payment, once', async () => {
    const { id } = await open();
    const unknown = await observe(transfer(asked * 3n, 'final'));
    const elsewhere = await observe({
      ...transfer(asked, 'final'),
      address: '1BoatSLRHtKNngkdXEeobR76b53LETtpyT',
    });
    await expect(assignDeposit(operatorOf(service), elsewhere.id, id)).rejects.toThrow(
      'another address',
    );
    const operator = operatorOf(service);
    const [arrived = '', due = ''] = [asked * 3n, asked].map(units => formatBaseUnits(units, 8));
    const consent = { amounts: { arrived, due } };
    expect(await assignDeposit(operator, unknown.id, id, consent)).toMatchObject({
      outcome: 'assigned',
      payment_id: id,
    });
    expect(await stateOf(id)).toBe('successful/completed');
    await expect(assignDeposit(operator, unknown.id, id)).rejects.toThrow('belongs to payment');
  });

  test('gives a dismissed deposit to no payment, also after it was reversed and came back', async () => {
    const { id } = await open();
    const [first, second] = [transfer(asked, 'seen'), transfer(asked, 'seen')];
    await observe(first);
    const { id: duplicate } = await observe(second);
    const remedy = { remedy: 'returned', to: 'A', hash: 'b' } as const;
    await dismissDeposit(operatorOf(service), duplicate, remedy);
    for (const each of [second, first]) await observe({ ...each, finality: 'reversed' });
    for (const finality of ['seen', 'final'] as const) {
      expect(await observe({ ...second, finality })).toMatchObject({ payment_id: null });
    }
    expect(await stateOf(id)).toBe('pending/pending');
  });

  test('never moves a payment that has ended', async () => {
    const { id } = await open();
    await expirePayments(service.db, new Date(service.clock.now + 2 * HOUR_MS), 100);
    const late = await observe(transfer(asked, 'final'));
    await expect(assignDeposit(operatorOf(service), late.id, id)).rejects.toThrow('has ended');
    const kept = { remedy: 'kept' } as const;
    expect(await dismissDeposit(operatorOf(service), late.id, kept)).toMatchObject({
      dismissed_at: now(),
    });
    await expect(dismissDeposit(operatorOf(service), late.id, kept)).rejects.toThrow('dismissed');
  });
});

async function cancel(paymentId: string): Promise<void> {
  const reason = { actor: 'customer', reason: 'cancelled by the customer' };
  await service.db
    .transaction()
    .execute(tx => movePayment(tx, { paymentId, move: 'cancel', ...reason, now: now() }));
}

/** Resolves when a statement of the test's database waits for a lock. */
async function blocked(db: Database): Promise<void> {
  await vi.waitUntil(async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and backend_type = 'client backend'`.execute(db);
    return rows.length > 0;
  }, SOON);
}

test('an address pays each payment at most once, even if everything happens concurrently', async () => {
  await setAddress(operatorOf(service), { merchantId: merchant.id }, 'btc', ADDRESSES.btc);
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          hash: fc.integer({ min: 0, max: 4 }),
          amount: fc.constantFrom(0n, 1n, 2n, -5n),
          finality: fc.constantFrom<Finality>('seen', 'final', 'reversed', 'failed'),
        }),
        { minLength: 1, maxLength: 14 },
      ),
      async reports => {
        asked *= 2n;
        await releaseAll(service.db);
        const payments = [await open(), await addOpenPayment(service, merchant, asked + 1n)];
        const run = ++serial;
        await Promise.all(
          reports.map(({ hash, amount, finality }) =>
            observe(transfer(asked + amount, finality, `run${run}-${hash}-${amount}`)),
          ),
        );
        for (const { id } of payments) {
          const payment = await findPayment(service.db, id);
          const paying = await service.db
            .selectFrom('deposits')
            .selectAll()
            .where('payment_id', '=', id)
            .where('outcome', '<>', 'under')
            .where('state', 'in', ['seen', 'final'])
            .execute();
          expect(paying.length).toBeLessThanOrEqual(1);
          if (payment?.status === 'successful') expect(paying[0]?.state).toBe('final');
          if (payment?.session_status === 'pending') expect(paying).toHaveLength(0);
        }
      },
    ),
    { numRuns: runs(25) },
  );
});
