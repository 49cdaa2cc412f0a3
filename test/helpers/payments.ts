import { type Insertable, sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Payment, PaymentsTable } from '#storage/database/payment-tables.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Status and session status of a payment, as in `pending/completed`. */
export async function stateOfPayment(db: Database, id: string): Promise<string> {
  const payment = await findPayment(db, id);
  return `${payment?.status}/${payment?.session_status}`;
}

/** Inserts a payment of the merchant in any state that a test needs. */
export async function addPayment(
  db: Connection,
  merchant: Merchant,
  columns: Partial<Insertable<PaymentsTable>> & { created_at: Date },
): Promise<Payment> {
  const branch = await findMainBranch(db, merchant.id);
  if (branch === undefined) throw new Error('the merchant has no main branch');
  const regulated = merchant.account_kind === 'us';
  return db
    .insertInto('payments')
    .values({
      id: uuidv7(),
      merchant_id: merchant.id,
      branch_id: branch.id,
      partner_id: merchant.partner_id,
      created_by: 'test',
      flow: regulated ? 'regulated' : 'crypto',
      amount: 1000,
      commission_amount: null,
      commission_bps: merchant.commission_bps,
      commission_payer: merchant.commission_payer,
      settlement_model: regulated ? null : merchant.settlement_model,
      offered_blockchain_ids: [],
      expires_at: new Date(columns.created_at.getTime() + HOUR_MS),
      ...columns,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Copies a payment, without its reference and its outcome.
 * @param apartMs Time between the creation of consecutive copies; negative for older ones.
 */
export async function copyPayment(
  db: Database,
  id: string,
  { copies, apartMs }: { readonly copies: number; readonly apartMs: number },
): Promise<void> {
  await sql`
    insert into payments (id, merchant_id, branch_id, created_by, flow, amount, commission_bps,
                          commission_payer, settlement_model, offered_blockchain_ids, expires_at,
                          created_at)
    select gen_random_uuid(), merchant_id, branch_id, created_by, flow, amount, commission_bps,
           commission_payer, settlement_model, offered_blockchain_ids, expires_at,
           created_at + n * ${apartMs} * interval '1 millisecond'
    from payments, generate_series(1, ${copies}) as n where id = ${id}`.execute(db);
}
