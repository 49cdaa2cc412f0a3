import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import type { WebhookDelivery } from '../../database/webhook-tables.ts';

/** Maximum rows of each kind in a payment's history; a payment has a handful. */
const ROWS_MAXIMUM = 1000;

/** A deposit with the asset of its amount. */
export type HistoricDeposit = Deposit & { assetSymbol: string; assetDecimals: number };

/** An event without its data. */
export interface HistoricEvent {
  id: string;
  type: string;
  created_at: Date;
}

export type HistoricDelivery = WebhookDelivery & { endpointUrl: string; eventType: string };

/** Deposits of a payment, oldest first. */
export function listHistoricDeposits(
  db: Connection,
  paymentId: string,
): Promise<HistoricDeposit[]> {
  return db
    .selectFrom('deposits')
    .innerJoin('networks', 'networks.id', 'deposits.blockchain_id')
    .selectAll('deposits')
    .select(['networks.asset_symbol as assetSymbol', 'networks.asset_decimals as assetDecimals'])
    .where('payment_id', '=', paymentId)
    .orderBy('observed_at')
    .orderBy('deposits.id')
    .limit(ROWS_MAXIMUM)
    .execute();
}

/** Events of a payment, oldest first. */
export function listHistoricEvents(db: Connection, paymentId: string): Promise<HistoricEvent[]> {
  return db
    .selectFrom('events')
    .select(['id', 'type', 'created_at'])
    .where('payment_id', '=', paymentId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(ROWS_MAXIMUM)
    .execute();
}

/** Deliveries of a payment's events, including manual redeliveries, oldest first. */
export function listHistoricDeliveries(
  db: Connection,
  eventIds: readonly string[],
): Promise<HistoricDelivery[]> {
  if (eventIds.length === 0) return Promise.resolve([]);
  return db
    .selectFrom('webhook_deliveries as delivery')
    .innerJoin('events', 'events.id', 'delivery.event_id')
    .innerJoin('webhook_endpoints as endpoint', 'endpoint.id', 'delivery.endpoint_id')
    .selectAll('delivery')
    .select(['endpoint.url as endpointUrl', 'events.type as eventType'])
    .where('event_id', 'in', eventIds)
    .orderBy('delivery.created_at')
    .orderBy('delivery.id')
    .limit(ROWS_MAXIMUM)
    .execute();
}
