import type { Connection } from '../database/connection.ts';
import type { Payment, PaymentTransition, WebhookAttempt } from '../database/tables.ts';
import { formatBaseUnits } from '../payments/token-amount.ts';
import {
  type HistoricDelivery,
  type HistoricDeposit,
  type HistoricEvent,
  listHistoricDeliveries,
  listHistoricDeposits,
  listHistoricEvents,
} from '../repositories/payment-history.ts';
import { listTransitions } from '../repositories/payment-moves.ts';
import { listAttempts } from '../repositories/webhook-attempts.ts';

export interface HistoryEntry {
  readonly at: Date;
  readonly kind: 'created' | 'deposit' | 'transition' | 'event' | 'delivery' | 'attempt';
  /** ID of the deposit, transition, event, delivery or attempt; for `created`, of the payment. */
  readonly id: string;
  /** What happened, in one line. */
  readonly what: string;
}

/**
 * Order of entries with the same time. A deposit causes a transition, a transition an event, and an event
 * deliveries.
 */
const KINDS: readonly HistoryEntry['kind'][] = [
  'created',
  'deposit',
  'transition',
  'event',
  'delivery',
  'attempt',
];

/** Most attempts that are read; a payment usually has a handful. */
const ATTEMPTS_MAXIMUM = 1000;

/** Everything that happened to a payment, oldest first. */
export async function readHistory(db: Connection, payment: Payment): Promise<HistoryEntry[]> {
  const [transitions, deposits, events] = await Promise.all([
    listTransitions(db, payment.id),
    listHistoricDeposits(db, payment.id),
    listHistoricEvents(db, payment.id),
  ]);
  const deliveries = await listHistoricDeliveries(
    db,
    events.map(({ id }) => id),
  );
  const attempts = await listAttempts(
    db,
    deliveries.map(({ id }) => id),
    ATTEMPTS_MAXIMUM,
  );
  const entries = [
    ofCreation(payment),
    ...deposits.map(ofDeposit),
    ...transitions.map(ofTransition),
    ...events.map(ofEvent),
    ...deliveries.map(ofDelivery),
    ...attempts.map(attempt => ofAttempt(attempt, deliveries)),
  ];
  return entries.toSorted(
    (one, other) =>
      one.at.getTime() - other.at.getTime() || KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind),
  );
}

function ofCreation({ id, created_at, amount, flow, created_by }: Payment): HistoryEntry {
  const what = `${amount} cents, ${flow}, by ${created_by}`;
  return { at: created_at, kind: 'created', id, what };
}

function ofDeposit(deposit: HistoricDeposit): HistoryEntry {
  const { assetDecimals, assetSymbol, observed_at: at, updated_at: changed } = deposit;
  const amount = formatBaseUnits(BigInt(deposit.token_amount), assetDecimals);
  const since = changed > at ? ` since ${changed.toISOString()}` : '';
  const transfer = `${deposit.blockchain_id} ${deposit.transaction_hash}:${deposit.position}`;
  const what = `${amount} ${assetSymbol}, ${deposit.outcome}, ${deposit.state}${since}, ${transfer}`;
  return { at, kind: 'deposit', id: deposit.id, what };
}

function ofTransition(transition: PaymentTransition): HistoryEntry {
  const from = `${transition.from_status}/${transition.from_session_status}`;
  const to = `${transition.to_status}/${transition.to_session_status}`;
  const what = `${from} to ${to}, by ${transition.actor}: ${transition.reason}`;
  return { at: transition.at, kind: 'transition', id: transition.id, what };
}

function ofEvent({ id, type, created_at: at }: HistoricEvent): HistoryEntry {
  return { at, kind: 'event', id, what: type };
}

function ofDelivery(delivery: HistoricDelivery): HistoryEntry {
  const { id, created_at: at, attempts, endpointUrl, eventType, status } = delivery;
  const again = delivery.redelivery_of === null ? '' : ', redelivered by hand';
  const next = delivery.next_attempt_at;
  const when = next === null ? '' : `, next at ${next.toISOString()}`;
  const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  const what = `${eventType} to ${endpointUrl}${again}: ${status}, ${count}${when}`;
  return { at, kind: 'delivery', id, what };
}

function ofAttempt(attempt: WebhookAttempt, deliveries: readonly HistoricDelivery[]): HistoryEntry {
  const delivery = deliveries.find(({ id }) => id === attempt.delivery_id);
  const result = attempt.error ?? `HTTP ${attempt.status_code}`;
  const to = `${delivery?.eventType} to ${delivery?.endpointUrl}`;
  const what = `${to}, number ${attempt.number}: ${result} in ${attempt.duration_ms} ms`;
  return { at: attempt.at, kind: 'attempt', id: attempt.id, what };
}
