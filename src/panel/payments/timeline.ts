import { type Html, html } from '../../pages/html.ts';
import type { PaymentFact } from '../../payments/history.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import { dateTime, dollars } from '../format.ts';

const OUTCOMES: Readonly<Record<string, string>> = {
  exact: 'the exact amount',
  over: 'a little more than asked for',
  tolerated: 'a little less than asked for, which is tolerated',
  under: 'too little',
  rest: 'the rest',
  assigned: 'assigned by hand',
};

const STATES: Readonly<Record<string, string>> = {
  seen: 'seen on chain',
  final: 'final',
  reversed: 'undone by the chain',
  failed: 'failed on chain',
};

/** The history of a payment, oldest first. */
export function renderTimeline(facts: readonly PaymentFact[]): Html {
  return html`<ol class="timeline">${facts.map(
    fact => html`<li>${describe(fact)}${dateTime(fact.at)}</li>`,
  )}</ol>`;
}

function describe(fact: PaymentFact): Html {
  switch (fact.kind) {
    case 'created':
      return html`Created for ${dollars(fact.payment.amount)} by <code>${fact.payment.created_by}</code>`;
    case 'deposit': {
      const { deposit } = fact;
      const amount = formatBaseUnits(BigInt(deposit.token_amount), deposit.assetDecimals);
      return html`${amount} ${deposit.assetSymbol} arrived: ${OUTCOMES[deposit.outcome] ?? deposit.outcome}, ${STATES[deposit.state]}. <code>${deposit.transaction_hash}</code>`;
    }
    case 'transition': {
      const { to_status: status, to_session_status: session, reason } = fact.transition;
      const now = status === 'pending' && session === 'completed' ? 'confirming' : status;
      return html`Now ${now}: ${reason}`;
    }
    case 'event':
      return html`Event <code>${fact.event.type}</code>`;
    case 'delivery': {
      const { eventType, endpointUrl, status, attempts } = fact.delivery;
      return html`Delivery of <code>${eventType}</code> to ${originOf(endpointUrl)}: ${status}, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
    }
    case 'attempt': {
      const { attempt, delivery } = fact;
      const result = attempt.error ?? `HTTP ${attempt.status_code}`;
      return html`Attempt ${attempt.number} at ${originOf(delivery?.endpointUrl ?? '')}: ${result} in ${attempt.duration_ms} ms`;
    }
  }
}

/** Origin of a webhook URL, whose path and query may contain the merchant's secrets. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'a former endpoint';
}
