import type { PaymentFact } from '#payments/history.ts';
import { toPaymentObject } from '#payments/payment-object.ts';
import type { PaymentWithAsset } from '#storage/repositories/payments/payments.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderSelect } from '../kit/form.ts';
import { dateTime, dollars } from '../kit/format.ts';
import { renderStatus } from '../kit/payment-status.ts';
import { renderFacts } from '../kit/table.ts';
import { texts } from '../texts/index.ts';
import { type PartFormShown, renderPartForm } from './parts.ts';
import { renderTimeline } from './timeline.ts';
import { renderTransfers, type TransferParts } from './transfers.ts';

const { facts: names, simulation, timeline } = texts.payments;

/** How often the page of a pending payment looks for news, in seconds. */
const REFRESH_SECONDS = 5;

interface DetailParts {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly payment: PaymentWithAsset;
  readonly facts: readonly PaymentFact[];
  readonly transfers: TransferParts;
  readonly partForm: PartFormShown;
  /** Cases that can be simulated, with what happens in each; empty if none can. */
  readonly cases: readonly (readonly [string, string])[];
  readonly fault: FormFault | null;
}

/** One payment with everything that happened to it. */
export function detailPage(parts: DetailParts): PanelPage {
  const { url, payment, facts, transfers, partForm, cases, fault } = parts;
  const deposits = facts.flatMap(fact => (fact.kind === 'deposit' ? [fact.deposit] : []));
  const shown = toPaymentObject(payment);
  const { status } = payment;
  const text = (value: string | null) => (value === null ? null : html`<code>${value}</code>`);
  const time = (value: string | null) => (value === null ? null : dateTime(texts, value));
  return {
    title: dollars(payment.amount),
    lead: html`${renderStatus(texts, shown)} <code>${payment.id}</code>`,
    ...(status === 'pending' ? { refreshSeconds: REFRESH_SECONDS } : {}),
    fault,
    content: html`${renderTransfers(transfers)}
${renderPartForm(url, deposits, partForm, fault)}
${renderFacts([
  [names.created, dateTime(texts, shown.createdAt)],
  [status === 'pending' ? names.expires : names.expired, dateTime(texts, shown.expiresAt)],
  [names.paid, time(shown.paidAt)],
  [names.reference, shown.customerReferenceId],
  [names.note, payment.note],
  [names.tokenAmount, shown.tokenAmount && `${shown.tokenAmount} ${payment.asset_symbol ?? ''}`],
  [names.network, shown.blockchainId],
  [names.address, text(payment.address)],
  [names.transaction, text(shown.transactionHash)],
  [names.processor, payment.processor],
  [names.processorReference, text(payment.external_id)],
  [names.commission, shown.commissionAmount === null ? null : dollars(shown.commissionAmount)],
  [names.redirect, payment.redirect_url],
  [names.lastError, lastError(shown.lastError)],
  [names.cancellation, shown.cancellationReason],
])}
${cases.length > 0 && simulationForm(url, cases)}
<section aria-labelledby="timeline"><h2 id="timeline">${timeline.title}</h2>
${renderTimeline(facts)}
<p><a href="${url}/evidence.json" download>${timeline.evidence}</a></p></section>`,
  };
}

function lastError(error: ReturnType<typeof toPaymentObject>['lastError']): Html | null {
  return error === null ? null : html`${error.message} <code>${error.code}</code>`;
}

function simulationForm(url: string, cases: DetailParts['cases']): Html {
  const choices = cases.map(([name, meaning]) => [name, `${name}: ${meaning}`] as const);
  return html`<section aria-labelledby="simulate"><h2 id="simulate">${simulation.title}</h2>
<form method="post" action="${url}/simulate" class="stack">
${renderSelect('case', simulation.case, choices)}
<button>${simulation.submit}</button>
</form></section>`;
}
