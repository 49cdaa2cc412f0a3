import type { Payment } from '../../database/payment-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PaymentFact } from '../../payments/history.ts';
import { toPaymentObject } from '../../payments/payment-object.ts';
import { type FormFault, renderSelect } from '../form.ts';
import { dateTime, dollars } from '../format.ts';
import type { PanelPage } from '../layout.ts';
import { renderStatus } from '../status.ts';
import { renderFacts } from '../table.ts';
import { renderStrays, type StrayParts } from './strays.ts';
import { renderTimeline } from './timeline.ts';

/** How often the page of a pending payment looks for news, in seconds. */
const REFRESH_SECONDS = 5;

interface DetailParts {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly payment: Payment;
  /** Asset of the network that the customer chose; null before the choice. */
  readonly assetSymbol: string | null;
  readonly facts: readonly PaymentFact[];
  readonly strays: StrayParts;
  /** Cases that can be simulated, with what happens in each; empty if none can. */
  readonly cases: readonly (readonly [string, string])[];
  readonly fault: FormFault | null;
}

/** One payment with everything that happened to it. */
export function detailPage(parts: DetailParts): PanelPage {
  const { url, payment, assetSymbol, facts, strays, cases, fault } = parts;
  const shown = toPaymentObject(payment);
  const { status } = payment;
  const text = (value: string | null) => (value === null ? null : html`<code>${value}</code>`);
  const time = (value: string | null) => (value === null ? null : dateTime(value));
  return {
    title: dollars(payment.amount),
    lead: html`${renderStatus(shown)} <code>${payment.id}</code>`,
    ...(status === 'pending' ? { refreshSeconds: REFRESH_SECONDS } : {}),
    fault,
    content: html`${renderStrays(strays)}
${renderFacts([
  ['Created', dateTime(shown.createdAt)],
  [status === 'pending' ? 'Expires' : 'Time to pay until', dateTime(shown.expiresAt)],
  ['Paid', time(shown.paidAt)],
  ['Reference', shown.customerReferenceId],
  ['Note', payment.note],
  ['Amount on chain', shown.tokenAmount && `${shown.tokenAmount} ${assetSymbol ?? ''}`],
  ['Network', shown.blockchainId],
  ['Address', text(payment.address)],
  ['Transaction', text(shown.transactionHash)],
  ['Processor', payment.processor],
  ['Reference of the processor', text(payment.external_id)],
  ['Commission', shown.commissionAmount === null ? null : dollars(shown.commissionAmount)],
  ['Leads back to', payment.redirect_url],
  ['Last error', lastError(shown.lastError)],
  ['Cancelled because', shown.cancellationReason],
])}
${cases.length > 0 && simulationForm(url, cases)}
<section aria-labelledby="timeline"><h2 id="timeline">What happened</h2>
${renderTimeline(facts)}
<p><a href="${url}/evidence.json" download>Download signed evidence</a></p></section>`,
  };
}

function lastError(error: ReturnType<typeof toPaymentObject>['lastError']): Html | null {
  return error === null ? null : html`${error.message} <code>${error.code}</code>`;
}

function simulationForm(url: string, cases: DetailParts['cases']): Html {
  const choices = cases.map(([name, meaning]) => [name, `${name}: ${meaning}`] as const);
  return html`<section aria-labelledby="simulate"><h2 id="simulate">Simulate</h2>
<form method="post" action="${url}/simulate" class="filters">
${renderSelect('case', 'What a customer and the chain do', choices)}
<button>Simulate</button>
</form></section>`;
}
