import type { Connection } from '#storage/database/connection.ts';
import type { Payment, PaymentTransition } from '#storage/database/payment-tables.ts';
import type { WebhookAttempt } from '#storage/database/webhook-tables.ts';
import {
  type HistoricDelivery,
  type HistoricDeposit,
  type HistoricEvent,
  listHistoricDeposits,
  readHistoricEvents,
} from '#storage/repositories/payments/history.ts';
import { listTransitions } from '#storage/repositories/payments/moves.ts';

/** Something that happened to a payment. */
export type PaymentFact = { readonly at: Date; readonly id: string } & (
  | { readonly kind: 'created'; readonly payment: Payment }
  | { readonly kind: 'deposit'; readonly deposit: HistoricDeposit }
  | { readonly kind: 'transition'; readonly transition: PaymentTransition }
  | { readonly kind: 'event'; readonly event: HistoricEvent }
  | { readonly kind: 'delivery'; readonly delivery: HistoricDelivery }
  | {
      readonly kind: 'attempt';
      readonly attempt: WebhookAttempt;
      readonly delivery: HistoricDelivery | undefined;
    }
);

/**
 * Order of facts with the same time, before their IDs. A deposit causes a transition, a transition an event, and
 * an event deliveries.
 */
const KINDS: readonly PaymentFact['kind'][] = [
  'created',
  'deposit',
  'transition',
  'event',
  'delivery',
  'attempt',
];

/** Everything that happened to a payment, oldest first. */
export async function readHistory(db: Connection, payment: Payment): Promise<PaymentFact[]> {
  const [transitions, deposits, { events, deliveries, attempts }] = await Promise.all([
    listTransitions(db, payment.id),
    listHistoricDeposits(db, payment.id),
    readHistoricEvents(db, payment.id),
  ]);
  const byId = new Map(deliveries.map(delivery => [delivery.id, delivery]));
  const facts: PaymentFact[] = [
    { kind: 'created', at: payment.created_at, id: payment.id, payment },
    ...deposits.map(deposit => fact('deposit', deposit.observed_at, deposit.id, { deposit })),
    ...transitions.map(transition =>
      fact('transition', transition.at, transition.id, { transition }),
    ),
    ...events.map(event => fact('event', event.created_at, event.id, { event })),
    ...deliveries.map(delivery => fact('delivery', delivery.created_at, delivery.id, { delivery })),
    ...attempts.map(attempt =>
      fact('attempt', attempt.at, attempt.id, {
        attempt,
        delivery: byId.get(attempt.delivery_id),
      }),
    ),
  ];
  return facts.toSorted(
    (one, other) =>
      one.at.getTime() - other.at.getTime() ||
      KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind) ||
      (one.id < other.id ? -1 : 1),
  );
}

function fact<K extends string, T extends object>(kind: K, at: Date, id: string, what: T) {
  return { kind, at, id, ...what };
}
