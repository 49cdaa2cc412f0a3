import type { Deposit } from '../../database/deposit-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import { UNTAKEN_REASONS } from '../../settlement/untaken.ts';
import { dateTime, dollars } from '../format.ts';
import type { PanelPage } from '../layout.ts';
import { renderFacts } from '../table.ts';
import { renderConsent, renderTyped } from './consent.ts';
import type { DepositParts } from './deposit-parts.ts';
import { depositAmount } from './inbox.ts';
import { renderRemedy } from './remedy.ts';

export function depositPage(parts: DepositParts): PanelPage {
  const { url, deposit, context, fault, wanted, maySettle } = parts;
  return {
    title: depositAmount(deposit, context),
    lead: reasonOf(deposit),
    fault,
    content: html`${wanted !== null && renderConsent(parts, wanted)}
${renderMeant(parts)}
${renderAsked(parts)}
${renderFacts([
  ['Arrived', dateTime(deposit.observed_at)],
  ['Worth', worthOf(deposit)],
  ['State', deposit.state === 'final' ? 'final' : 'confirming: it may still be undone'],
  ['Network', deposit.blockchain_id],
  ['Address', html`<code>${deposit.address}</code>`],
  ['Transaction', html`<code>${deposit.transaction_hash}</code>`],
])}
${renderFits(parts)}
${
  maySettle &&
  html`<section aria-labelledby="dismiss"><h2 id="dismiss">Settled with the customer?</h2>
<form method="post" action="${url}/dismiss" class="stack">
${renderRemedy(fault, parts.fields)}
<button class="danger">Dismiss</button>
</form></section>`
}`,
  };
}

/** Why no payment took the deposit, as a sentence. */
function reasonOf({ outcome }: Deposit): string {
  const text = UNTAKEN_REASONS[outcome]?.text ?? outcome;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function worthOf({ value_cents: cents, priced_at: at }: Deposit): Html | null {
  if (cents === null || at === null) return null;
  return html`${dollars(cents)}, at the price of ${dateTime(at)}`;
}

/** The payment that had asked for exactly its amount. It stays as it is. */
function renderMeant({ paymentsUrl, meant }: DepositParts): Html | null {
  if (meant === undefined) return null;
  const { id, amount, status, customer_reference_id: reference, movedAt } = meant;
  const consequence =
    status === 'successful'
      ? 'It is paid: this is a second transfer of the same amount.'
      : status === 'pending'
        ? 'It is still open, but does not wait for this amount any more.'
        : 'It stays so. Settle with that customer, then dismiss the deposit.';
  return html`<section aria-labelledby="meant"><h2 id="meant">The payment that it fits exactly</h2>
<p><a href="${paymentsUrl}/${id}">${dollars(amount)}</a>${reference !== null && html`, ${reference}`}: <strong>${status}</strong>${movedAt !== null && html` since ${dateTime(movedAt)}`}. ${consequence}</p></section>`;
}

/** An assignment that waits for a second person, who types both amounts to confirm it. */
function renderAsked(parts: DepositParts): Html | null {
  const { asked, personId, maySettle, paymentsUrl, wanted } = parts;
  if (asked === undefined) return null;
  const { payment } = asked;
  const isOwn = asked.personId === personId;
  return html`<section aria-labelledby="asked"><h2 id="asked">Waits for a second admin</h2>
<p>${isOwn ? 'You asked' : html`${asked.name} asked`} to assign it to <a href="${paymentsUrl}/${payment.id}">${dollars(payment.amount)}</a>, though it is too little. ${isOwn ? 'Another admin has to confirm that.' : 'That settles the payment, and cannot be undone.'}</p>
${!isOwn && maySettle && wanted === null && renderTyped(parts, payment.id)}</section>`;
}

function renderFits({ url, paymentsUrl, deposit, context, fits, maySettle }: DepositParts): Html {
  const heading = html`<h2 id="fits">Payments that wait at its address</h2>`;
  if (fits.length === 0) {
    return html`<section aria-labelledby="fits">${heading}<p>None. Settle it with the customer, then dismiss it.</p></section>`;
  }
  const arrived = depositAmount(deposit, context);
  return html`<section aria-labelledby="fits">${heading}
<p class="quiet">Assigning makes the payment successful once the deposit is final; that cannot be undone.</p>
<ul class="rows">${fits.map(
    ({ payment, tokenAmount }) => html`<li><div>
<a href="${paymentsUrl}/${payment.id}">${dollars(payment.amount)}</a>${payment.customer_reference_id !== null && html`, ${payment.customer_reference_id}`}<br>
<span class="quiet">due ${formatBaseUnits(BigInt(tokenAmount), context.assetDecimals)} ${context.assetSymbol}, arrived ${arrived}</span></div>
${
  maySettle &&
  html`<form method="post" action="${url}/assign"><input type="hidden" name="payment" value="${payment.id}"><button>Assign</button></form>`
}</li>`,
  )}</ul></section>`;
}
