import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { dismissDeposit } from '#onchain/settlement/inbox.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import { recordReturn } from '#onchain/settlement/record-return.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findDepositById } from '#storage/repositories/deposits/deposits.ts';
import { findReturns } from '#storage/repositories/deposits/returns.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addOpenPayment, releaseAll } from '../../helpers/open-payment.ts';
import { addMerchantUser } from '../../helpers/panel.ts';
import { simulate } from '../../helpers/simulate.ts';

/** The return of a part that an ended payment had received. */

const DAY_MS = 24 * 60 * 60_000;
const GIVEN = { to: 'bc1qada', hash: 'back', note: 'ticket 7' };

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
  asked *= 3n;
  return releaseAll(service.db);
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

/** A transfer on Bitcoin, which can be reported any number of times. */
function transferOf(tokenAmount: bigint) {
  serial += 1;
  const place = { blockchainId: 'btc', address: ADDRESSES.btc };
  const transfer = {
    ...place,
    transactionHash: `part ${serial}`,
    position: 0,
    tokenAmount,
    blockHeight: 1,
    blockHash: null,
    occurredAt: now(),
    source: 'simulation' as const,
  };
  return (finality: Finality) => observeTransfer(service.db, { ...transfer, finality }, now());
}

/** A deposit of half of what a payment asks for. */
async function addPart() {
  const payment = await addOpenPayment(service, merchant, asked);
  const deposit = await transferOf(asked / 2n)('final');
  expect(deposit).toMatchObject({ outcome: 'under', payment_id: payment.id });
  return { payment, deposit };
}

/** A part of a payment that has ended without the rest. */
async function addEndedPart() {
  const part = await addPart();
  service.clock.now += DAY_MS;
  await expirePayments(service.db, now(), 100);
  service.clock.now += 1_000;
  return part;
}

const record = (depositId: string) => recordReturn(operatorOf(service), depositId, GIVEN);

async function auditedOf(depositId: string) {
  return service.db
    .selectFrom('audit_log')
    .selectAll()
    .where('object_id', '=', depositId)
    .where('action', '=', 'deposit.return')
    .execute();
}

test('it is recorded with person, transaction and time, and audited', async () => {
  const { payment, deposit } = await addEndedPart();
  const before = await findDepositById(service.db, deposit.id);
  const ada = await addMerchantUser(service, merchant.id, 'admin');
  await recordReturn({ ...operatorOf(service), personId: ada.personId }, deposit.id, GIVEN);
  expect((await findReturns(service.db, [deposit.id])).get(deposit.id)).toEqual({
    deposit_id: deposit.id,
    merchant_id: merchant.id,
    booked_at: now(),
    returned_to: 'bc1qada',
    transaction_hash: 'back',
    note: 'ticket 7',
  });
  // The deposit's row is unchanged: the previous release reads it, and books the part by it.
  expect(await findDepositById(service.db, deposit.id)).toEqual(before);
  expect(await auditedOf(deposit.id)).toMatchObject([
    { person_id: ada.personId, at: now(), detail: { ...GIVEN, paymentId: payment.id } },
  ]);
});

test('of two people who record it at once, one succeeds', async () => {
  const { deposit } = await addEndedPart();
  const results = await Promise.allSettled([1, 2, 3].map(() => record(deposit.id)));
  const refused = results.flatMap(each => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused.map(({ message }) => message)).toEqual([
    'It is recorded already that the deposit was returned.',
    'It is recorded already that the deposit was returned.',
  ]);
  expect(await auditedOf(deposit.id)).toHaveLength(1);
});

test('it is later than the booking of the part, even if the clock is behind', async () => {
  const { deposit } = await addEndedPart();
  const { booked_at: bookedAt } = await service.db
    .selectFrom('booked_deposits')
    .selectAll()
    .where('deposit_id', '=', deposit.id)
    .executeTakeFirstOrThrow();
  service.clock.now = bookedAt.getTime() - 500;
  const { booked_at: returnedAt } = await record(deposit.id);
  expect(returnedAt.getTime()).toBe(bookedAt.getTime() + 1);
});

test('what was recorded is neither changed nor removed', async () => {
  const { deposit } = await addEndedPart();
  await record(deposit.id);
  for (const change of [
    sql`update booked_returns set booked_at = now()`,
    sql`delete from booked_returns`,
    sql`truncate booked_returns`,
  ]) {
    await expect(change.execute(service.db)).rejects.toThrow('on booked_returns is refused');
  }
});

describe('refused', () => {
  const refuses = async (depositId: string, message: string) => {
    await expect(record(depositId)).rejects.toThrow(message);
    expect(await auditedOf(depositId)).toEqual([]);
    expect(await findReturns(service.db, [depositId])).toEqual(new Map());
  };

  test('is an ID that is no deposit', async () => {
    const id = crypto.randomUUID();
    await refuses(id, `There is no deposit ${id}.`);
  });

  test('is a deposit that no payment took, or that was dismissed', async () => {
    const { id } = await transferOf(asked)('final');
    await refuses(id, 'waits in the inbox: dismiss it as returned instead');
    await dismissDeposit(operatorOf(service), id, { remedy: 'returned', to: 'Ada', hash: 'back' });
    await refuses(id, 'The deposit is dismissed.');
  });

  test('is a deposit that is not final, or was reversed', async () => {
    await addOpenPayment(service, merchant, asked);
    const report = transferOf(asked / 2n);
    const { id, payment_id: paymentId } = await report('seen');
    expect(paymentId).not.toBeNull();
    await refuses(id, 'The deposit is seen: only one that is final');
    await report('reversed');
    await refuses(id, 'The deposit is reversed: only one that is final');
  });

  test('is a part of a payment that is still open, or that the payment was paid with', async () => {
    const { payment, deposit } = await addPart();
    await refuses(deposit.id, `Payment ${payment.id} is still open`);
    const { payment: paid, deposits } = await simulate(service, payment.id, 'rest', now());
    expect(paid.status).toBe('successful');
    await refuses(deposit.id, `Payment ${payment.id} was paid`);
    expect(deposits).toHaveLength(1);
    await refuses(deposits[0]?.id ?? '', `Payment ${payment.id} was paid`);
  });
});
