import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { lapseQuotes } from '#onchain/settlement/lapse-quotes.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { SettledBy } from '#storage/database/network-tables.ts';
import { findOverdue } from '#storage/repositories/backlog.ts';
import { lockDuePayments, updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { ADDRESSES, addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addOpenPayment } from '../../helpers/open-payment.ts';
import { addPayment } from '../../helpers/payments.ts';

/** Expiry of payments on networks whose chain is watched: Bitcoin, in these tests. */

const MINUTE_MS = 60_000;
const WAITING = 10_000;

let service: TestApp;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
beforeEach(() => watch('chain', null));
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const expire = (limit = 50) => expirePayments(service.db, now(), limit);
const statusOf = async ({ id }: { id: string }) => (await findPayment(service.db, id))?.status;

async function watch(settled_by: SettledBy, expires_until: Date | null): Promise<void> {
  const { db } = service;
  await db.updateTable('networks').set({ settled_by }).where('id', '=', 'btc').execute();
  await db.updateTable('chains').set({ expires_until }).where('id', '=', 'btc').execute();
}

/** A payment that was due a minute ago. */
async function addDue(blockchainId: string | null) {
  const expires_at = new Date(service.clock.now - MINUTE_MS);
  const payment = await addPayment(service.db, merchant, { created_at: now(), expires_at });
  if (blockchainId !== null) {
    await updateOpenPayment(service.db, payment.id, { blockchain_id: blockchainId });
  }
  return payment;
}

test('a payment waits for its watcher; one on another network, or on none, does not', async () => {
  const [held, elsewhere, unchosen] = [
    await addDue('btc'),
    await addDue('eth'),
    await addDue(null),
  ];
  expect(await expire()).toBe(2);
  for (const payment of [elsewhere, unchosen]) expect(await statusOf(payment)).toBe('expired');
  await watch('chain', new Date(held.expires_at.getTime() - 1));
  expect(await expire()).toBe(0);
  // The worker is not behind; the payment waits for the watcher.
  expect(await findOverdue(service.db, now())).toEqual([]);
  await watch('chain', held.expires_at);
  const overdue = { flow: 'crypto', since: held.expires_at };
  expect(await findOverdue(service.db, now())).toEqual([overdue]);
  expect(await expire()).toBe(1);
  expect(await statusOf(held)).toBe('expired');
});

test('a watcher whose clock is ahead expires nothing early', async () => {
  const { id } = await addPayment(service.db, merchant, {
    created_at: now(),
    expires_at: new Date(service.clock.now + 1),
  });
  await updateOpenPayment(service.db, id, { blockchain_id: 'btc' });
  await watch('chain', new Date(service.clock.now + MINUTE_MS));
  expect(await expire()).toBe(0);
  service.clock.now += 1;
  expect(await expire()).toBe(1);
});

test('nodes that do not suffice for a network hold its payments too; a network without nodes does not', async () => {
  const payment = await addDue('btc');
  await watch('nobody', null);
  expect(await expire()).toBe(0);
  await watch('simulation', null);
  expect(await expire()).toBe(1);
  expect(await statusOf(payment)).toBe('expired');
});

test('any number of waiting payments does not hold up others', async () => {
  const due = await addDue('btc');
  await sql`
    insert into payments (id, merchant_id, branch_id, created_by, flow, amount, commission_bps,
      commission_payer, settlement_model, offered_blockchain_ids, expires_at, created_at,
      blockchain_id)
    select gen_random_uuid(), merchant_id, branch_id, created_by, flow, amount, commission_bps,
      commission_payer, settlement_model, offered_blockchain_ids,
      expires_at - n * interval '1 second', created_at, 'btc'
    from payments, generate_series(1, ${WAITING}) as n where id = ${due.id}`.execute(service.db);
  await sql`analyze payments`.execute(service.db);
  const unchosen = await addDue(null);
  const read = await service.db.transaction().execute(async tx => {
    expect(await lockDuePayments(tx, now(), 1)).toEqual([unchosen.id]);
    const { rows } = await sql<{ read: number }>`
      select coalesce(pg_stat_get_xact_tuples_fetched('payments'::regclass), 0)
             + pg_stat_get_xact_tuples_returned('payments'::regclass) as read`.execute(tx);
    return rows[0]?.read;
  });
  expect(read).toBeLessThan(100);
  expect(await expire(1)).toBe(1);
  expect(await statusOf(unchosen)).toBe('expired');

  await watch('chain', due.expires_at);
  expect(await expire(10)).toBe(10);
  await sql`
    update payments set expires_at = ${new Date(service.clock.now + 1000 * MINUTE_MS)}
    where status = 'pending'`.execute(service.db);
});

test('an underpayment that may still be reversed keeps a payment from expiring', async () => {
  const payment = await addOpenPayment(service, merchant, 1_000_000n);
  const part = {
    blockchainId: 'btc',
    address: ADDRESSES.btc,
    transactionHash: 'part',
    position: 0,
    tokenAmount: 400_000n,
    blockHeight: 1,
    blockHash: 'a',
    occurredAt: now(),
    source: 'chain' as const,
  };
  const tell = (finality: Finality) => observeTransfer(service.db, { ...part, finality }, now());
  await tell('seen');
  service.clock.now = payment.expires_at.getTime();
  await watch('chain', now());
  expect(await expire()).toBe(0);
  await tell('reversed');
  await tell('seen');
  await tell('final');
  // The payment gets another window, in which the rest can be paid.
  expect(await expire()).toBe(0);
  const { expires_at } = (await findPayment(service.db, payment.id)) ?? payment;
  expect(expires_at.getTime()).toBeGreaterThan(payment.expires_at.getTime());
  service.clock.now = expires_at.getTime();
  await watch('chain', now());
  expect(await expire()).toBe(1);
  expect(await statusOf(payment)).toBe('unsuccessful');
});

test('a seen underpayment holds no payment once the chain has no node any more', async () => {
  const payment = await addOpenPayment(service, merchant, 3_000_000n);
  const part = {
    blockchainId: 'btc',
    address: ADDRESSES.btc,
    transactionHash: 'left',
    position: 0,
    tokenAmount: 400_000n,
    blockHeight: 1,
    blockHash: 'a',
    occurredAt: now(),
    source: 'chain' as const,
    finality: 'seen' as const,
  };
  await observeTransfer(service.db, part, now());
  service.clock.now = payment.expires_at.getTime();
  await watch('chain', now());
  expect(await expire()).toBe(0);
  await watch('simulation', now());
  expect(await expire()).toBe(1);
  expect(await statusOf(payment)).toBe('unsuccessful');
});

test('a quote lapses only once the watcher has scanned up to its end', async () => {
  const { id } = await addOpenPayment(service, merchant, 5_000_000n);
  const quoted_until = now();
  await updateOpenPayment(service.db, id, { quoted_until });
  const lapse = () => lapseQuotes(service.db, now(), 50);
  expect(await lapse()).toBe(0);
  await watch('chain', new Date(quoted_until.getTime() - 1));
  expect(await lapse()).toBe(0);
  await watch('chain', quoted_until);
  expect(await lapse()).toBe(1);
  expect((await findPayment(service.db, id))?.blockchain_id).toBeNull();
});

test('a quote does not lapse while a seen underpayment may still be reversed', async () => {
  const { id } = await addOpenPayment(service, merchant, 7_000_000n);
  const part = {
    blockchainId: 'btc',
    address: ADDRESSES.btc,
    transactionHash: 'quoted',
    position: 0,
    tokenAmount: 400_000n,
    blockHeight: 1,
    blockHash: 'a',
    occurredAt: now(),
    source: 'chain' as const,
  };
  const tell = (finality: Finality) => observeTransfer(service.db, { ...part, finality }, now());
  await tell('seen');
  await updateOpenPayment(service.db, id, { quoted_until: now() });
  await watch('chain', now());
  expect(await lapseQuotes(service.db, now(), 50)).toBe(0);
  await tell('reversed');
  expect(await lapseQuotes(service.db, now(), 50)).toBe(1);
});

test('a payment whose quote has lapsed does not expire while an underpayment is seen again', async () => {
  const payment = await addOpenPayment(service, merchant, 8_000_000n);
  const part = {
    blockchainId: 'btc',
    address: ADDRESSES.btc,
    transactionHash: 'again',
    position: 0,
    tokenAmount: 500_000n,
    blockHeight: 1,
    blockHash: 'a',
    occurredAt: now(),
    source: 'chain' as const,
  };
  const tell = (finality: Finality) => observeTransfer(service.db, { ...part, finality }, now());
  await tell('seen');
  await tell('failed');
  await updateOpenPayment(service.db, payment.id, { quoted_until: now() });
  await watch('chain', now());
  expect(await lapseQuotes(service.db, now(), 50)).toBe(1);
  await tell('seen');
  service.clock.now = payment.expires_at.getTime();
  await watch('chain', now());
  await expire();
  expect(await statusOf(payment)).toBe('pending');
  await tell('reversed');
  await expire();
  expect(await statusOf(payment)).toBe('expired');
});
