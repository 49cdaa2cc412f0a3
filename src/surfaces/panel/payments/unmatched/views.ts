import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { dateTime, dollars } from '../../kit/format.ts';
import { renderFacts } from '../../kit/table.ts';
import { type PanelTexts, texts } from '../../texts/index.ts';
import { renderConsent, renderTyped } from './consent.ts';
import type { DepositParts } from './deposit-parts.ts';
import { depositAmount } from './inbox.ts';
import { reasonOf } from './reason.ts';
import { renderRemedy } from './remedy.ts';

const { statuses } = texts.payments;
const { unmatched: unmatchedTexts } = texts;
const { dismissal, facts } = unmatchedTexts;

export function depositPage(parts: DepositParts): PanelPage {
  const { url, deposit, context, fault, wanted, maySettle } = parts;
  return {
    title: depositAmount(deposit, context),
    lead: reasonSentence(texts, deposit),
    fault,
    content: html`${wanted !== null && renderConsent(parts, wanted)}
${renderMeant(parts)}
${renderAsked(parts)}
${renderFacts([
  [facts.arrived, dateTime(texts, deposit.observed_at)],
  [facts.worth, worthOf(deposit)],
  [
    facts.state,
    deposit.state === 'final' ? unmatchedTexts.final : unmatchedTexts.confirmingExplained,
  ],
  [facts.network, deposit.blockchain_id],
  [facts.address, html`<code>${deposit.address}</code>`],
  [facts.transaction, html`<code>${deposit.transaction_hash}</code>`],
])}
${renderFits(parts)}
${
  maySettle &&
  html`<section aria-labelledby="dismiss"><h2 id="dismiss">${dismissal.title}</h2>
<form method="post" action="${url}/dismiss" class="stack">
${renderRemedy(fault, parts.fields)}
<button class="danger">${dismissal.submit}</button>
</form></section>`
}`,
  };
}

/** Why no payment took the deposit, as a sentence. */
function reasonSentence(words: PanelTexts, { outcome }: Deposit): string {
  const { text } = reasonOf(words, outcome);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function worthOf({ value_cents: cents, priced_at: at }: Deposit): Html | null {
  if (cents === null || at === null) return null;
  return unmatchedTexts.worth(dollars(cents), dateTime(texts, at));
}

/** A link to a payment, with its reference. */
function renderOrder(
  paymentsUrl: string,
  {
    id,
    amount,
    customer_reference_id: reference,
  }: Pick<Payment, 'id' | 'amount' | 'customer_reference_id'>,
): Html {
  return html`<a href="${paymentsUrl}/${id}">${dollars(amount)}</a>${reference !== null && html`, ${reference}`}`;
}

/** The payment that had asked for exactly its amount. It stays as it is. */
function renderMeant({ paymentsUrl, meant }: DepositParts): Html | null {
  if (meant === undefined) return null;
  const { status, moved_at: movedAt } = meant;
  const { title, payment, consequences } = unmatchedTexts.meant;
  const consequence =
    status === 'successful'
      ? consequences.paid
      : status === 'pending'
        ? consequences.open
        : consequences.ended;
  const since = movedAt === null ? null : dateTime(texts, movedAt);
  const order = renderOrder(paymentsUrl, meant);
  return html`<section aria-labelledby="meant"><h2 id="meant">${title}</h2>
<p>${payment(order, html`<strong>${statuses[status]}</strong>`, since, consequence)}</p></section>`;
}

/** An assignment that waits for a second person, who types both amounts to confirm it. */
function renderAsked(parts: DepositParts): Html | null {
  const { asked, personId, maySettle, paymentsUrl, wanted } = parts;
  if (asked === undefined) return null;
  const { payment, name } = asked;
  const isOwn = asked.personId === personId;
  const { title, own, other } = unmatchedTexts.asked;
  const order = html`<a href="${paymentsUrl}/${payment.id}">${dollars(payment.amount)}</a>`;
  return html`<section aria-labelledby="asked"><h2 id="asked">${title}</h2>
<p>${isOwn ? own(order) : other(name, order)}</p>
${!isOwn && maySettle && wanted === null && renderTyped(parts, payment.id)}</section>`;
}

function renderFits({ url, paymentsUrl, deposit, context, fits, maySettle }: DepositParts): Html {
  const fitTexts = unmatchedTexts.fits;
  const heading = html`<h2 id="fits">${fitTexts.title}</h2>`;
  if (fits.length === 0) {
    return html`<section aria-labelledby="fits">${heading}<p>${fitTexts.none}</p></section>`;
  }
  const arrived = depositAmount(deposit, context);
  return html`<section aria-labelledby="fits">${heading}
<p class="quiet">${fitTexts.consequence}</p>
<ul class="rows">${fits.map(
    ({ payment, tokenAmount }) => html`<li><div>
${renderOrder(paymentsUrl, payment)}<br>
<span class="quiet">${fitTexts.amounts(depositAmount({ token_amount: tokenAmount }, context), arrived)}</span></div>
${
  maySettle &&
  html`<form method="post" action="${url}/assign"><input type="hidden" name="payment" value="${payment.id}"><button>${fitTexts.submit}</button></form>`
}</li>`,
  )}</ul></section>`;
}
