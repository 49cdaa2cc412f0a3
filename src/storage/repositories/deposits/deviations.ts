import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit, Deviation, StrayKind } from '../../database/deposit-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';

/** A payment that a deposit was meant for which came too late, twice, or for a former quote. */
export type MeantPayment = Pick<
  Payment,
  'id' | 'merchant_id' | 'amount' | 'status' | 'customer_reference_id'
> & {
  /** When its status last changed, which is its end if it has ended; null if it never did. */
  readonly moved_at: Date | null;
};

/** Kinds of deposits that were meant for a payment and settled nothing. */
const STRAY_KINDS: readonly StrayKind[] = ['late', 'duplicate', 'superseded'];

/** The payments that deposits were meant for by their exact amounts or own addresses, by the deposits' IDs. */
export async function findMeantPayments(
  db: Connection,
  depositIds: readonly string[],
): Promise<Map<string, MeantPayment>> {
  const { rows } = await sql<MeantPayment & { deposit_id: string }>`
    select deposit_id, payments.id, payments.merchant_id, amount, status,
           customer_reference_id, moved.at as moved_at
    from deviating_deposits join payments on payments.id = deviating_deposits.payment_id
    left join lateral (
      select at from payment_transitions where payment_id = payments.id order by at desc limit 1
    ) as moved on true
    where deposit_id = any(${depositIds}::uuid[]) and kind = any(${STRAY_KINDS}::text[])`.execute(
    db,
  );
  return new Map(rows.map(({ deposit_id: id, ...payment }) => [id, payment]));
}

/** A deposit that was meant for a payment and did not count for it. */
type StrayDeposit = Deposit & { kind: StrayKind };

/** The rest is in the inbox. */
const STRAYS_MAXIMUM = 100;

/** Deposits that were meant for a payment and came too late, once it was paid or for a former quote; oldest first. */
export function listStrayDeposits(db: Connection, paymentId: string): Promise<StrayDeposit[]> {
  return db
    .selectFrom('deviating_deposits')
    .innerJoin('deposits', 'deposits.id', 'deposit_id')
    .selectAll('deposits')
    .select('kind')
    .where('deviating_deposits.payment_id', '=', paymentId)
    .where('kind', 'in', STRAY_KINDS)
    .where('deposits.payment_id', 'is distinct from', paymentId)
    .where('deposits.state', 'in', ['seen', 'final'])
    .$narrowType<{ kind: StrayDeposit['kind'] }>()
    .orderBy('deposits.observed_at')
    .orderBy('deposits.id')
    .limit(STRAYS_MAXIMUM)
    .execute();
}

/** What has arrived for a payment, in comparison with what it asked for. */
export interface Arrivals {
  /** Sum on its network, without what was undone, in the asset's smallest unit; null for nothing. */
  readonly received: string | null;
  /** Name of the network; null before one is chosen, like its asset. */
  readonly networkName: string | null;
  readonly assetSymbol: string | null;
  readonly assetDecimals: number | null;
  readonly under: boolean;
  readonly over: boolean;
  /** Whether what was meant for it came after its end. */
  readonly late: boolean;
  /** Whether more that was meant for it came after it had been paid. */
  readonly duplicate: boolean;
}

/**
 * What `deviates` compares, beside a row of `payments`: `taken` is what has arrived for it, `stray` what
 * has come too late or twice.
 */
export const ARRIVED = sql`
  cross join lateral (
    select sum(token_amount) filter (where deposits.blockchain_id = payments.blockchain_id) as received,
           coalesce(bool_or(outcome = 'under'), false) as part,
           coalesce(bool_or(outcome = 'exact'), false) as whole,
           coalesce(bool_or(outcome = 'rest'), false) as completed,
           coalesce(bool_or(outcome = 'over'), false) as excess,
           coalesce(bool_or(outcome = 'assigned'), false) as assigned
    from deposits
    where payment_id = payments.id and deposits.state in ('seen', 'final')
  ) as taken
  cross join lateral (
    select coalesce(bool_or(kind = 'late'), false) as late,
           coalesce(bool_or(kind = 'duplicate'), false) as duplicate
    from deviating_deposits join deposits on deposits.id = deposit_id
    where deviating_deposits.payment_id = payments.id and kind in ('late', 'duplicate')
      and deposits.payment_id is distinct from payments.id and deposits.state in ('seen', 'final')
  ) as stray`;

const CONDITIONS: Readonly<Record<Deviation, RawBuilder<SqlBool>>> = {
  // After a change of network, the payment asks for nothing yet, or for the whole amount, on the new one.
  under: sql`
    ((part and payments.status <> 'successful') or assigned)
      and (payments.token_amount is null or coalesce(received, 0) < payments.token_amount)`,
  // The rest may be a little more than what was missing; the last of several parts, much more.
  over: sql`
    (excess or assigned or (part and (whole or completed and received * 50 > payments.token_amount * 51)))
      and received > payments.token_amount`,
  late: sql.ref<boolean>('late'),
  duplicate: sql.ref<boolean>('duplicate'),
};

/** Whether a payment deviates in this way now; needs `ARRIVED`. */
export function deviates(kind: Deviation): Expression<SqlBool> {
  const { fn, lit } = expressionBuilder();
  return fn.coalesce(CONDITIONS[kind], lit(false));
}

/** What has arrived for each of some payments, by their IDs. */
export async function readArrivals(
  db: Connection,
  paymentIds: readonly string[],
): Promise<Map<string, Arrivals>> {
  const { rows } = await sql<Arrivals & { id: string }>`
    select payments.id, received::text, networks.name as "networkName", asset_symbol as "assetSymbol",
           asset_decimals as "assetDecimals", ${deviates('under')} as under, ${deviates('over')} as "over",
           late, duplicate
    from payments left join networks on networks.id = payments.blockchain_id ${ARRIVED}
    where payments.id = any(${paymentIds}::uuid[])`.execute(db);
  return new Map(rows.map(({ id, ...arrivals }) => [id, arrivals]));
}
