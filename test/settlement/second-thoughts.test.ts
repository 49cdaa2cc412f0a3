import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Merchant } from '../../src/database/account-tables.ts';
import type { Payment } from '../../src/database/payment-tables.ts';
import { createFixedRates } from '../../src/rates/fixed-rates.ts';
import {
  insertReservation,
  releaseReservation,
} from '../../src/repositories/deposits/reservations.ts';
import { lockDuePayments } from '../../src/repositories/payments/moves.ts';
import { findPayment } from '../../src/repositories/payments/payments.ts';
import { observeTransfer } from '../../src/settlement/observe-transfer.ts';
import type { Finality } from '../../src/settlement/observed-transfer.ts';
import { readRemaining } from '../../src/settlement/remaining.ts';
import { selectNetwork } from '../../src/settlement/select-network.ts';
import { ADDRESSES, addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { releaseAll } from '../helpers/open-payment.ts';
import { addPayment } from '../helpers/payments.ts';

const MINUTE_MS = 60_000;
const RATES = createFixedRates();
let service: TestApp;
let merchant: Merchant;
let serial = 0;
beforeAll(async () => {
  service = await startTestApp();
  const addresses = { eth: ADDRESSES.eth, btc: ADDRESSES.btc, 'eth-usdt': ADDRESSES.eth };
  ({ merchant } = await addMerchant(service, { addresses }));
});
beforeEach(() => releaseAll(service.db));
afterAll(() => service.close());
const now = () => new Date(service.clock.now);
const add = (amount = 5_000, more = {}) =>
  addPayment(service.db, merchant, {
    ...{ amount, created_at: now(), offered_blockchain_ids: ['eth', 'btc', 'eth-usdt'] },
    expires_at: new Date(service.clock.now + 60 * MINUTE_MS),
    ...more,
  });
const choose = (payment: Payment, blockchainId: string, rates = RATES) =>
  selectNetwork(service.db, rates, { payment, blockchainId, simulation: true }, now());
const read = async ({ id }: Payment) => {
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  return payment;
};
function transfer(quote: Payment, amount = BigInt(quote.token_amount ?? 0)) {
  const told = {
    ...{ blockchainId: quote.blockchain_id ?? '', address: quote.address ?? '' },
    ...{ transactionHash: `former${++serial}`, position: 0, tokenAmount: amount },
    ...{ blockHeight: 1, blockHash: 'a', source: 'chain' as const, occurredAt: now() },
  };
  return (finality: Finality) => observeTransfer(service.db, { ...told, finality }, now());
}

test('what a wallet has left of what was asked before is no stranger’s', async () => {
  const p1 = await add();
  const q1 = await choose(p1, 'eth-usdt');
  service.clock.now += MINUTE_MS;
  await choose(p1, 'btc');
  service.clock.now += MINUTE_MS;
  const p2 = await add();
  await choose(p2, 'eth-usdt');
  const unit = 10_000n;
  const cut = (BigInt(q1.token_amount ?? 0) / unit) * unit;
  service.clock.now += MINUTE_MS;
  const d = await transfer(q1, cut)('final');
  expect(d.payment_id).not.toBe(p2.id);
});

test('who comes back gets no amount that another payment was promised since', async () => {
  const p1 = await add();
  const q1 = await choose(p1, 'eth-usdt');
  await choose(p1, 'btc');
  service.clock.now += 25 * MINUTE_MS;
  await choose(p1, 'eth');
  service.clock.now += 20 * MINUTE_MS;
  // The third one is asked for the same, and leaves.
  const p3 = await add();
  await choose(p3, 'btc');
  await releaseReservation(service.db, p3.id, now());
  await insertReservation(
    service.db,
    p3.id,
    {
      blockchainId: 'eth-usdt',
      address: q1.address ?? '',
      tokenAmount: BigInt(q1.token_amount ?? 0),
    },
    now(),
  );
  service.clock.now += MINUTE_MS;
  await releaseReservation(service.db, p3.id, now());
  service.clock.now += MINUTE_MS;
  const again = await choose(p1, 'eth-usdt');
  service.clock.now += MINUTE_MS;
  expect(again.token_amount).not.toBe(q1.token_amount);
});

test('a price is held no longer by transfers that are seen and replaced', async () => {
  const p = await add();
  const first = await choose(p, 'eth');
  for (let round = 0; round < 20; round++) {
    service.clock.now += 28 * MINUTE_MS;
    await choose(await read(p), 'btc');
    const tx = transfer(first);
    const seen = await tx('seen');
    if (seen.outcome !== 'exact') {
      break;
    }
    service.clock.now += 1000;
    await tx('reversed');
  }
  const d = await transfer(first)('final');
  expect(d.outcome).not.toBe('exact');
}, 30000);

test('a rest that a wallet has cut is told from its whole', async () => {
  const p = await add(22_200);
  const first = await choose(p, 'eth');
  const whole = BigInt(first.token_amount ?? 0);
  const unit = 10n ** 16n;
  await transfer(first, whole - 5n * unit)('final');
  const rest = (await readRemaining(service.db, await read(p)))?.remaining ?? 0n;
  const d = await transfer(first, (rest / unit) * unit)('final');
  expect(d.outcome).toBe('rest');
});

test('a payment does not expire while a transaction cannot be read where it asked before', async () => {
  const p = await add();
  const q = await choose(p, 'eth');
  const second = await choose(p, 'btc');
  await service.db
    .insertInto('findings')
    .values({
      id: '01a2227d-8456-72b1-aa89-9b25b0950769',
      chain: 'eth',
      kind: 'unreadable',
      blockchain_id: 'eth',
      address: q.address,
      detail: 'x',
      found_at: now(),
      transaction_hash: 'y',
    } as never)
    .execute();
  const ids = await service.db
    .transaction()
    .execute(tx => lockDuePayments(tx, second.expires_at, 10, p.id));
  await sql`delete from findings`.execute(service.db);
  expect(ids).toEqual([]);
});

test('what a wallet has cut settles its payment also if that left before it was seen', async () => {
  const p = await add();
  const q = await choose(p, 'eth-usdt');
  service.clock.now += 1000;
  const send = transfer(q, (BigInt(q.token_amount ?? 0) / 10_000n) * 10_000n);
  service.clock.now += 1000;
  await choose(p, 'btc');
  const d = await send('final');
  const { rows } =
    await sql`select kind from deviating_deposits where deposit_id = ${d.id}`.execute(service.db);
  expect(d.payment_id ?? rows.length).toBe(p.id);
});

test('an amount of the previous release, which others may be cut to, is not asked for again', async () => {
  const p = await add();
  const q = await choose(p, 'eth-usdt');
  await releaseReservation(service.db, p.id, now());
  await choose(p, 'btc');
  await sql`delete from reservations where payment_id = ${p.id} and blockchain_id='eth-usdt'`.execute(
    service.db,
  );
  // As the previous release wrote it.
  await sql`insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, released_at) values (${p.id}, 'eth-usdt', ${q.address}, ${(BigInt(q.token_amount ?? 0) / 10_000n) * 10_000n}, ${now()}, ${now()})`.execute(
    service.db,
  );
  const again = await choose(p, 'eth-usdt');
  expect(again.token_amount).not.toMatch(/0000$/);
});

test('what arrived on another network settles the payment once its funds are undone', async () => {
  const p = await add();
  const e = await choose(p, 'eth');
  const b = await choose(p, 'btc');
  const eth = transfer(e);
  await eth('seen');
  await transfer(b)('final');
  await eth('reversed');
  const after = await read(p);
  expect(after.status).toBe('successful');
});
