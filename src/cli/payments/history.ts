import type { PaymentFact } from '#payments/history.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Payment, PaymentTransition } from '#storage/database/payment-tables.ts';
import type { WebhookAttempt } from '#storage/database/webhook-tables.ts';
import type { HistoricDelivery, HistoricDeposit } from '#storage/repositories/payments/history.ts';

interface HistoryEntry {
  readonly at: Date;
  readonly kind: PaymentFact['kind'];
  /** ID of the deposit, transition, event, delivery or attempt; for `created`, of the payment. */
  readonly id: string;
  /** What happened, in one line. */
  readonly what: string;
}

/** A fact as an operator reads it. */
export function historyEntry(fact: PaymentFact): HistoryEntry {
  return { at: fact.at, kind: fact.kind, id: fact.id, what: describe(fact) };
}

function describe(fact: PaymentFact): string {
  switch (fact.kind) {
    case 'created':
      return describeCreation(fact.payment);
    case 'deposit':
      return describeDeposit(fact.deposit);
    case 'transition':
      return describeTransition(fact.transition);
    case 'event':
      return fact.event.type;
    case 'delivery':
      return describeDelivery(fact.delivery);
    case 'attempt':
      return describeAttempt(fact.attempt, fact.delivery);
  }
}

function describeCreation({ amount, flow, created_by }: Payment): string {
  return `${amount} cents, ${flow}, by ${created_by}`;
}

function describeDeposit(deposit: HistoricDeposit): string {
  const {
    asset_decimals: assetDecimals,
    asset_symbol: assetSymbol,
    observed_at: at,
    updated_at: changed,
  } = deposit;
  const amount = formatBaseUnits(BigInt(deposit.token_amount), assetDecimals);
  const since = changed > at ? ` since ${changed.toISOString()}` : '';
  const transfer = `${deposit.blockchain_id} ${deposit.transaction_hash}:${deposit.position}`;
  const index = deposit.derivation_index;
  const where = index === null ? '' : `, at index ${index} of the wallet`;
  return `${amount} ${assetSymbol}, ${deposit.outcome}, ${deposit.state}${since}, ${transfer}${where}`;
}

function describeTransition(transition: PaymentTransition): string {
  const from = `${transition.from_status}/${transition.from_session_status}`;
  const to = `${transition.to_status}/${transition.to_session_status}`;
  return `${from} to ${to}, by ${transition.actor}: ${transition.reason}`;
}

function describeDelivery(delivery: HistoricDelivery): string {
  const { attempts, endpoint_url: endpointUrl, event_type: eventType, status } = delivery;
  const again = delivery.redelivery_of === null ? '' : ', redelivered by hand';
  const next = delivery.next_attempt_at;
  const when = next === null ? '' : `, next at ${next.toISOString()}`;
  const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return `${eventType} to ${endpointUrl}${again}: ${status}, ${count}${when}`;
}

function describeAttempt(attempt: WebhookAttempt, delivery: HistoricDelivery | undefined): string {
  const result = attempt.error ?? `HTTP ${attempt.status_code}`;
  const to = `${delivery?.event_type} to ${delivery?.endpoint_url}`;
  return `${to}, number ${attempt.number}: ${result} in ${attempt.duration_ms} ms`;
}
