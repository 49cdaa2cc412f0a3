import type { PaymentFact } from '#payments/history.ts';
import { type Html, html } from '../../pages/html.ts';
import { dateTime, dollars } from '../kit/format.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { amountOf } from './transfers.ts';

/** The history of a payment, oldest first. */
export function renderTimeline(words: PanelTexts, facts: readonly PaymentFact[]): Html {
  return html`<ol class="timeline">${facts.map(
    fact => html`<li>${describe(words, fact)}${dateTime(words, fact.at)}</li>`,
  )}</ol>`;
}

function describe({ payments }: PanelTexts, fact: PaymentFact): Html | string {
  const { statuses, confirming, timeline } = payments;
  const outcomes: Readonly<Partial<Record<string, string>>> = timeline.outcomes;
  // The path and the query of a webhook URL may contain the merchant's secrets.
  const originOf = (url: string) => URL.parse(url)?.origin ?? timeline.formerEndpoint;
  switch (fact.kind) {
    case 'created':
      return timeline.created(dollars(fact.payment.amount), code(fact.payment.created_by));
    case 'deposit': {
      const { outcome, state, transaction_hash: hash } = fact.deposit;
      const how = outcomes[outcome] ?? outcome;
      return timeline.deposit(amountOf(fact.deposit), how, timeline.states[state], code(hash));
    }
    case 'transition': {
      const { to_status: status, to_session_status: session, reason } = fact.transition;
      const now = status === 'pending' && session === 'completed' ? confirming : statuses[status];
      return timeline.transition(now, reason);
    }
    case 'event':
      return timeline.event(code(fact.event.type));
    case 'delivery': {
      const { event_type: eventType, endpoint_url: endpointUrl, status, attempts } = fact.delivery;
      const outcome = timeline.deliveryStatuses[status];
      return timeline.delivery(code(eventType), originOf(endpointUrl), outcome, attempts);
    }
    case 'attempt': {
      const { attempt, delivery } = fact;
      const { number, error, status_code: status, duration_ms: milliseconds } = attempt;
      const endpoint = originOf(delivery?.endpoint_url ?? '');
      return timeline.attempt(number, endpoint, error ?? timeline.httpStatus(status), milliseconds);
    }
  }
}

function code(text: string): Html {
  return html`<code>${text}</code>`;
}
