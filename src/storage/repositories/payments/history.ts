import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import type { WebhookAttempt, WebhookDelivery } from '../../database/webhook-tables.ts';
import { derivationIndexOf } from '../accounts/wallet-addresses.ts';

/** Maximum rows of each kind in a payment's history; a payment has a handful. */
const ROWS_MAXIMUM = 1000;

/** A deposit with the asset of its amount, and whether it was given back. */
export type HistoricDeposit = Deposit & {
  asset_symbol: string;
  asset_decimals: number;
  /** Of its address in a wallet; null for a static address. */
  derivation_index: number | null;
  /** When it was booked as a part of the payment, which ended without the rest or was paid on another network. */
  booked_at: Date | null;
  /** When its return was recorded; null for one that was not given back. */
  returned_at: Date | null;
};

/** An event without its data. */
export interface HistoricEvent {
  id: string;
  type: string;
  created_at: Date;
}

export type HistoricDelivery = WebhookDelivery & { endpoint_url: string; event_type: string };

/** Deposits of a payment, oldest first. */
export function listHistoricDeposits(
  db: Connection,
  paymentId: string,
): Promise<HistoricDeposit[]> {
  return db
    .selectFrom('deposits')
    .innerJoin('networks', 'networks.id', 'deposits.blockchain_id')
    .leftJoin('booked_deposits as booked', 'booked.deposit_id', 'deposits.id')
    .leftJoin('booked_returns as returned', 'returned.deposit_id', 'deposits.id')
    .selectAll('deposits')
    .select(['networks.asset_symbol', 'networks.asset_decimals'])
    .select(derivationIndexOf('deposits').as('derivation_index'))
    .select(['booked.booked_at', 'returned.booked_at as returned_at'])
    .where('payment_id', '=', paymentId)
    .orderBy('observed_at')
    .orderBy('deposits.id')
    .limit(ROWS_MAXIMUM)
    .execute();
}

/** The events of a payment and what was sent of them; the lists are not ordered. */
interface HistoricEvents {
  readonly events: readonly HistoricEvent[];
  /** Deliveries of the events, including manual redeliveries. */
  readonly deliveries: readonly HistoricDelivery[];
  readonly attempts: readonly WebhookAttempt[];
}

/** An event, with a delivery of it and an attempt at that, if there are any. */
type EventRow = {
  readonly of_event: string;
  readonly event_type: string;
  readonly event_at: Date;
} & (
  | { readonly id: null; readonly attempt_id: null }
  | (HistoricDelivery & { readonly attempt_id: null })
  | (HistoricDelivery & Omit<WebhookAttempt, 'id'> & { readonly attempt_id: string })
);

/** Reads a payment's events, their deliveries and the attempts at those; of each kind the oldest 1,000. */
export async function readHistoricEvents(
  db: Connection,
  paymentId: string,
): Promise<HistoricEvents> {
  const { rows } = await sql<EventRow>`
    with event as materialized (
      select id, type, created_at from events where payment_id = ${paymentId}
      order by created_at, id limit ${ROWS_MAXIMUM}
    ), delivery as materialized (
      select * from webhook_deliveries where event_id in (select id from event)
      order by created_at, id limit ${ROWS_MAXIMUM}
    ), attempt as materialized (
      select * from webhook_attempts where delivery_id in (select id from delivery)
      order by at, id limit ${ROWS_MAXIMUM}
    )
    select event.id as of_event, event.type as event_type, event.created_at as event_at,
      delivery.*, endpoint.url as endpoint_url,
      attempt.id as attempt_id, delivery_id, number, at, duration_ms, status_code, error,
      response_excerpt
    from event
    left join delivery on event_id = event.id
    left join webhook_endpoints as endpoint on endpoint.id = endpoint_id
    left join attempt on delivery_id = delivery.id`.execute(db);
  const events = new Map<string, HistoricEvent>();
  const deliveries = new Map<string, HistoricDelivery>();
  const attempts: WebhookAttempt[] = [];
  for (const row of rows) {
    const { of_event: id, event_type: type, event_at: at } = row;
    events.set(id, { id, type, created_at: at });
    if (row.id !== null) deliveries.set(row.id, row);
    if (row.attempt_id !== null) attempts.push({ ...row, id: row.attempt_id });
  }
  return { events: [...events.values()], deliveries: [...deliveries.values()], attempts };
}
