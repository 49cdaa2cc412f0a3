import { type Selectable, sql } from 'kysely';
import type { Deposit, ReservationsTable } from '#storage/database/deposit-tables.ts';
import type { Payment, PaymentTransitionsTable } from '#storage/database/payment-tables.ts';
import type { Played } from './played.ts';
import { type Stage, seedOf } from './stage.ts';

export interface EventRow {
  readonly payment_id: string | null;
  readonly type: string;
  readonly created_at: Date;
  /** The deposit that the event is about; null where it is about a payment. */
  readonly deposit_id: string | null;
}

/** What a history has left in the database. */
export interface Rows {
  readonly payments: readonly Payment[];
  readonly deposits: readonly Deposit[];
  readonly reservations: readonly Selectable<ReservationsTable>[];
  /** In the order in which they were written. */
  readonly transitions: readonly Selectable<PaymentTransitionsTable>[];
  readonly events: readonly EventRow[];
  readonly windows: ReadonlyMap<string, number>;
  readonly toleranceBps: number;
}

/** Reads what each of the histories has left. */
export async function readRows(
  { db, windows }: Stage,
  played: readonly Played[],
): Promise<Map<Played, Rows>> {
  const payments = await db.selectFrom('payments').selectAll().execute();
  const deposits = await db.selectFrom('deposits').selectAll().orderBy('id').execute();
  const reservations = await db.selectFrom('reservations').selectAll().orderBy('id').execute();
  const transitions = await db
    .selectFrom('payment_transitions')
    .selectAll()
    .orderBy('id')
    .execute();
  const { rows: events } = await sql<EventRow & { merchant_id: string }>`
    select merchant_id, payment_id, type, created_at,
           case when payment_id is null then data ->> 'id' end as deposit_id
    from events`.execute(db);
  const byMerchant = {
    payments: Map.groupBy(payments, row => row.merchant_id),
    events: Map.groupBy(events, row => row.merchant_id),
    deposits: Map.groupBy(deposits, row => seedOf(row.address)),
    reservations: Map.groupBy(reservations, row => seedOf(row.address)),
    transitions: Map.groupBy(transitions, row => row.payment_id),
  };
  return new Map(
    played.map(each => {
      const { merchants, history } = each;
      const ids = [...new Set(merchants.map(({ merchantId }) => merchantId))];
      const own = ids.flatMap(id => byMerchant.payments.get(id) ?? []);
      return [
        each,
        {
          payments: own,
          events: ids.flatMap(id => byMerchant.events.get(id) ?? []),
          deposits: byMerchant.deposits.get(history.seed) ?? [],
          reservations: byMerchant.reservations.get(history.seed) ?? [],
          transitions: own.flatMap(({ id }) => byMerchant.transitions.get(id) ?? []),
          windows,
          toleranceBps: history.toleranceBps,
        },
      ];
    }),
  );
}
