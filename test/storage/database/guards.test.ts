import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAYMENT_STATUSES, SESSION_STATUSES } from '#schemas/payment.ts';
import type { Payment, PaymentStatus, SessionStatus } from '#storage/database/payment-tables.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { ALLOWED_MOVES, SEEN } from '../../helpers/payment-states.ts';
import { addPayment } from '../../helpers/payments.ts';
import { createPrompt } from '../../helpers/prompts.ts';

const PAIRS = PAYMENT_STATUSES.flatMap(status =>
  SESSION_STATUSES.map(session => `${status}/${session}`),
);

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

function columnsOf(pair: string) {
  const [status, session_status] = pair.split('/') as [PaymentStatus, SessionStatus];
  return { status, session_status, paid_at: status === 'successful' ? new Date() : null };
}

const add = (columns: Partial<Payment> = {}) =>
  addPayment(service.db, shop.merchant, { created_at: new Date(service.clock.now), ...columns });

const change = (id: string, columns: object) =>
  service.db.updateTable('payments').set(columns).where('id', '=', id).execute();

/** Whether the database accepts a statement; every refusal must be an integrity violation. */
async function isTaken(statement: Promise<unknown>): Promise<boolean> {
  return statement.then(
    () => true,
    error => {
      expect(error.code, error.message).toMatch(/^23/);
      return false;
    },
  );
}

describe('the status of a payment', () => {
  test('is one of the allowed pairs', async () => {
    for (const pair of PAIRS) {
      expect(await isTaken(add(columnsOf(pair))), pair).toBe(pair in ALLOWED_MOVES);
    }
  });

  test.each(Object.keys(ALLOWED_MOVES))('moves from %s only where it may', async from => {
    for (const to of PAIRS) {
      const { id } = await add(columnsOf(from));
      const taken = await isTaken(change(id, columnsOf(to)));
      expect(taken, `${from} to ${to}`).toBe(from === to || ALLOWED_MOVES[from]?.includes(to));
    }
  });

  test('is successful exactly when there is a time of payment', async () => {
    const paid = { status: 'successful', session_status: 'completed' } as const;
    const { id } = await add();
    expect(await isTaken(change(id, paid))).toBe(false);
    expect(await isTaken(change(id, { paid_at: new Date() }))).toBe(false);
    expect(await isTaken(change(id, { ...paid, paid_at: new Date() }))).toBe(true);
    expect(await isTaken(change(id, { paid_at: null }))).toBe(false);
  });
});

describe('the terms agreed at creation', () => {
  test('never change', async () => {
    const other = await addMerchant(service);
    const { partner } = await addPartner(service);
    const { id } = await add();
    const regulated = await add({ flow: 'regulated', settlement_model: null });
    const changes: Partial<Payment>[] = [
      { id: uuidv7() },
      { amount: 1001 },
      { merchant_id: other.merchant.id },
      { partner_id: partner.id },
      { created_at: new Date(service.clock.now + 1) },
      { flow: 'regulated', settlement_model: null },
      { settlement_model: 'direct' },
      { commission_bps: 1 },
      { commission_payer: 'shopper' },
    ];
    for (const columns of changes) {
      expect(await isTaken(change(id, columns)), Object.keys(columns).join()).toBe(false);
    }
    const crypto = { flow: 'crypto', settlement_model: 'split' };
    expect(await isTaken(change(regulated.id, crypto))).toBe(false);
    // Nor together with a column that may change.
    expect(await isTaken(change(id, { ...columnsOf(SEEN), amount: 999 }))).toBe(false);
    expect(
      await isTaken(change(id, { amount: 1000, created_at: new Date(service.clock.now) })),
    ).toBe(true);
  });

  test('are within their bounds', async () => {
    for (const columns of [
      { amount: 0 },
      { amount: -1 },
      { commission_amount: -1 },
      { commission_bps: 10_001 },
      { settlement_model: null },
      { flow: 'regulated' as const },
      { flow: 'regulated' as const, settlement_model: null, blockchain_id: 'btc' },
      { token_amount: '0', token_decimals: 8 },
      { token_amount: '5' },
      { token_decimals: 8 },
      { blockchain_id: 'doge' },
      { last_error_code: 'a' },
    ]) {
      expect(await isTaken(add(columns)), JSON.stringify(columns)).toBe(false);
    }
  });
});

describe('append-only tables', () => {
  beforeAll(async () => {
    // By the database's clock, since old events may be removed.
    service.clock.now = Date.now();
    const { prompt } = await createPrompt(service, shop, { amount: 5000 });
    const now = new Date(service.clock.now);
    await service.db
      .insertInto('payment_transitions')
      .values({
        id: uuidv7(),
        payment_id: prompt.id,
        from_status: 'pending',
        from_session_status: 'pending',
        to_status: 'pending',
        to_session_status: 'completed',
        at: now,
        actor: 'test',
        reason: 'test',
      })
      .execute();
    await insertAuditEntry(service.db, {
      id: uuidv7(),
      actor: 'test',
      action: 'test.test',
      objectType: 'test',
      objectId: 'test',
      detail: {},
      now,
    });
  });

  test.each([
    'update payment_transitions set actor = actor',
    'update events set type = type',
    'update audit_log set actor = actor',
    'delete from payment_transitions',
    'delete from events',
    'delete from audit_log',
    'delete from payments',
    'truncate payment_transitions',
    'truncate events cascade',
    'truncate audit_log',
    'truncate payments cascade',
  ])('refuse: %s', async statement => {
    expect(await isTaken(sql.raw(statement).execute(service.db))).toBe(false);
  });
});

test('a merchant has one main branch at most', async () => {
  const branch = { merchant_id: shop.merchant.id, name: 'Second', is_main: true };
  const insert = service.db
    .insertInto('branches')
    .values({ ...branch, id: uuidv7(), created_at: new Date() });
  expect(await isTaken(insert.execute())).toBe(false);
});

test('a fixed expiry moves earlier when a clock is advanced, and never later', async () => {
  const created = new Date(service.clock.now);
  const { id, expires_at: end } = await add({ expiry_fixed: true });
  const earlier = new Date(end.getTime() - 1);
  expect(await isTaken(change(id, { expires_at: earlier }))).toBe(false);
  for (const [columns, isAllowed] of [
    [{ expires_at: new Date(end.getTime() + 1) }, false],
    [{ expires_at: new Date(created.getTime() - 1) }, false],
    [{ expires_at: earlier, expiry_fixed: false }, false],
    [{ expires_at: earlier }, true],
  ] as const) {
    const advanced = service.db.transaction().execute(async tx => {
      await sql`select set_config('eps.advances_clock', 'on', true)`.execute(tx);
      await tx.updateTable('payments').set(columns).where('id', '=', id).execute();
    });
    expect(await isTaken(advanced), JSON.stringify(columns)).toBe(isAllowed);
  }
  expect(await isTaken(change(id, { expires_at: created }))).toBe(false);
});
