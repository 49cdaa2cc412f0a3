import { explorerPage } from '#accounts/explorer-url.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { renderCopied } from '../../kit/copy.ts';
import type { PanelPage } from '../../kit/document.ts';
import { dateTime, dollars } from '../../kit/format.ts';
import { assetAmount } from '../../kit/networks.ts';
import { renderFacts } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { remedyOf } from '../transfers.ts';
import { renderConsent, renderTyped } from './consent.ts';
import {
  type DepositParts,
  type DepositRequest,
  readDepositParts,
  type SentForm,
} from './deposit-parts.ts';
import { reasonOf } from './reason.ts';
import { renderRemedy } from './remedy.ts';

/** A deposit that waits, with what can be done with it; or what became of it. */
export async function depositPage(
  request: DepositRequest,
  deps: PanelDependencies,
  sent: SentForm = {},
): Promise<PanelPage> {
  const words = texts(request);
  const parts = await readDepositParts(request, deps, sent);
  const { deposit, context, fault, wanted } = parts;
  const isWaiting = waits(deposit);
  return {
    title: assetAmount(deposit.token_amount, context.assetDecimals, context.assetSymbol),
    lead: isWaiting ? describeReason(words, deposit) : words.unmatched.settled.lead,
    fault,
    content: html`${isWaiting && wanted !== undefined && renderConsent(words, parts, wanted)}
${isWaiting ? html`${renderMeant(words, parts)}${renderAsked(words, parts)}` : renderSettled(words, parts)}
${renderDeposit(words, parts)}
${isWaiting && html`${renderFits(words, parts)}${renderDismissal(words, parts)}`}`,
  };
}

/** Whether it can still be assigned or dismissed. */
function waits({ payment_id: paymentId, dismissed_at: dismissedAt, state }: Deposit): boolean {
  const hasArrived = state === 'seen' || state === 'final';
  return paymentId === null && dismissedAt === null && hasArrived;
}

function renderDeposit(words: PanelTexts, { deposit, context }: DepositParts): Html {
  const { facts, final, confirmingExplained } = words.unmatched;
  const { blockchain_id: id, address, transaction_hash: hash, state } = deposit;
  const { networkName, assetSymbol, explorer } = context;
  return renderFacts([
    [facts.arrived, dateTime(words, deposit.observed_at)],
    [facts.worth, worthOf(words, deposit)],
    [
      facts.state,
      state === 'seen'
        ? confirmingExplained
        : state === 'final'
          ? final
          : words.payments.timeline.states[state],
    ],
    [facts.network, html`${words.changes.network(networkName, assetSymbol)} <code>${id}</code>`],
    [
      facts.address,
      renderCopied(words, { id: 'deposit-address', name: facts.address, value: address }),
    ],
    [
      facts.transaction,
      renderCopied(words, {
        id: 'deposit-transaction',
        name: facts.transaction,
        value: hash,
        link: explorer && explorerPage(explorer, hash),
      }),
    ],
  ]);
}

/** Why no payment took the deposit, as a sentence. */
function describeReason(words: PanelTexts, { outcome }: Deposit): string {
  const { text } = reasonOf(words, outcome);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function worthOf(words: PanelTexts, { value_cents: cents, priced_at: at }: Deposit): Html | null {
  if (cents === null || at === null) return null;
  return words.unmatched.worth(dollars(cents), dateTime(words, at));
}

/** A link to a payment, with its reference. */
export function renderOrder(
  paymentsUrl: string,
  {
    id,
    amount,
    customer_reference_id: reference,
  }: Pick<Payment, 'id' | 'amount' | 'customer_reference_id'>,
): Html {
  return html`<a href="${paymentsUrl}/${id}">${dollars(amount)}</a>${reference !== null && html`, ${reference}`}`;
}

/** What became of a deposit that waits no more. */
function renderSettled(words: PanelTexts, { deposit, taker, paymentsUrl }: DepositParts): Html {
  const { title, taken, takenElsewhere } = words.unmatched.settled;
  const describe = () => {
    if (taker !== undefined) return taken(renderOrder(paymentsUrl, taker));
    if (deposit.payment_id !== null) return takenElsewhere;
    if (deposit.dismissed_at !== null) return remedyOf(words, deposit);
    return words.payments.transfers.countedFor.failed;
  };
  return html`<section aria-labelledby="settled"><h2 id="settled">${title}</h2>
<p>${describe()}</p></section>`;
}

/** The payment that it was meant for, which stays as it is. */
function renderMeant(words: PanelTexts, { paymentsUrl, meant }: DepositParts): Html | null {
  if (meant === undefined) return null;
  const { status, moved_at: movedAt } = meant;
  const { title, payment, consequences } = words.unmatched.meant;
  const consequence =
    status === 'successful'
      ? consequences.paid
      : status === 'pending'
        ? consequences.open
        : consequences.ended;
  const since = movedAt === null ? null : dateTime(words, movedAt);
  const order = renderOrder(paymentsUrl, meant);
  const shown = html`<strong>${words.payments.statuses[status]}</strong>`;
  return html`<section aria-labelledby="meant"><h2 id="meant">${title}</h2>
<p>${payment(order, shown, since, consequence)}</p></section>`;
}

/** An assignment that waits for a second person, who types both amounts to confirm it. */
function renderAsked(words: PanelTexts, parts: DepositParts): Html | null {
  const { asked, personId, maySettle, paymentsUrl, wanted } = parts;
  if (asked === undefined) return null;
  const { payment, name } = asked;
  const isOwn = asked.personId === personId;
  const { title, own, other } = words.unmatched.asked;
  const order = renderOrder(paymentsUrl, payment);
  const mayConfirm = !isOwn && maySettle && wanted === undefined;
  return html`<section aria-labelledby="asked"><h2 id="asked">${title}</h2>
<p>${isOwn ? own(order) : other(name, order)}</p>
${mayConfirm && renderTyped(words, parts, { payment: payment.id, arrived: '', due: '' })}</section>`;
}

/** The payments that it may be assigned to, the best fit first. */
function renderFits(
  { unmatched: { fits: texts } }: PanelTexts,
  { url, paymentsUrl, deposit, context, fits, maySettle }: DepositParts,
): Html {
  const heading = html`<h2 id="fits">${texts.title}</h2>`;
  if (fits.length === 0) {
    return html`<section aria-labelledby="fits">${heading}<p>${texts.none}</p></section>`;
  }
  const amount = (units: string) => assetAmount(units, context.assetDecimals, context.assetSymbol);
  return html`<section aria-labelledby="fits">${heading}
<ul class="rows">${fits.map(
    ({ payment, tokenAmount }, place) => html`<li><div>
${renderOrder(paymentsUrl, payment)}${place === 0 && html` <span class="tag">${texts.best}</span>`}<br>
<span class="quiet">${texts.amounts(amount(tokenAmount), amount(deposit.token_amount))}</span></div>
${
  maySettle &&
  html`<form method="post" action="${url}/assign"><input type="hidden" name="payment" value="${payment.id}"><button>${texts.submit}</button></form>`
}</li>`,
  )}</ul></section>`;
}

function renderDismissal(
  words: PanelTexts,
  { url, fault, fields, maySettle }: DepositParts,
): Html | null {
  const { title, submit } = words.unmatched.dismissal;
  if (!maySettle) return null;
  return html`<section aria-labelledby="dismiss"><h2 id="dismiss">${title}</h2>
<form method="post" action="${url}/dismiss" class="stack">
${renderRemedy(words, fault, fields)}
<button class="danger">${submit}</button>
</form></section>`;
}
