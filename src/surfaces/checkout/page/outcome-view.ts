import { type Html, html } from '../../pages/html.ts';
import { billOf } from '../bill.ts';
import { redirectTarget } from '../checkout.ts';
import type { CheckoutStage } from '../stage.ts';
import { renderConfirmations } from './confirmations.ts';
import { copyButton } from './copy-button.ts';
import { renderExplorerLink } from './explorer-link.ts';
import { renderTransfers } from './transfers.ts';
import { amountOf, type CheckoutView, merchantOf, type Quote } from './view.ts';
import { priceOf, renderProgress } from './waiting-view.ts';

type OutcomeStage = Exclude<CheckoutStage, 'choose' | 'waiting'>;

/** SVG paths for an icon of 24 × 24. */
const MARKS: Readonly<Record<OutcomeStage, string>> = {
  paid: 'M7 12.5l3.5 3.5L17 9',
  confirming: 'M12 7v5l3 2',
  overdue: 'M12 7v5l3 2',
  expired: 'M12 7v5l3 2',
  cancelled: 'M8.5 8.5l7 7m0-7l-7 7',
  unsuccessful: 'M12 7v6m0 3.5v.01',
};

/** Renders a payment that has been seen or has ended, with the link back to the merchant. */
export function renderOutcome(view: CheckoutView, stage: OutcomeStage, quote: Quote | null): Html {
  const [title, text] = describe(view, stage, quote?.networkName ?? '–');
  const { locale, checkout } = view;
  const { transaction_hash: hash } = checkout.payment;
  const { confirmations } = checkout.progress;
  return html`<section class="card outcome ${stage}">
<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="${MARKS[stage]}"/></svg>
<h1 id="title" tabindex="-1">${title}</h1>
<p>${text}</p>
${stage === 'paid' && renderReceipt(view, quote)}
${stage === 'confirming' && confirmations && renderConfirmations(confirmations, locale)}
${renderTransfers(view)}
${renderNextSteps(view, stage)}
${hash && html`<dl class="values"><div class="value"><dt>${locale.texts.outcome.transaction}</dt><dd><code class="text" id="hash" dir="ltr">${hash}</code> ${copyButton(locale, hash, 'transaction')}</dd></div></dl>`}
${hash && renderExplorerLink(view, hash)}
${(stage === 'confirming' || stage === 'overdue') && renderProgress(view, locale.texts.waiting.notFinal)}
${renderReturn(view, stage)}
</section>`;
}

function describe(view: CheckoutView, stage: OutcomeStage, network: string) {
  const { outcome } = view.locale.texts;
  const { isDelayed } = view.checkout.progress;
  const overdue = isDelayed ? outcome.overdueDelayed(network) : outcome.overdue;
  const texts: Readonly<Record<OutcomeStage, readonly [title: string, text: string]>> = {
    paid: [outcome.paidTitle, outcome.paid(merchantOf(view))],
    confirming: [outcome.confirmingTitle, outcome.confirming(network)],
    overdue: [outcome.overdueTitle, overdue],
    expired: [outcome.overdueTitle, outcome.expired],
    cancelled: [outcome.cancelledTitle, outcome.cancelled],
    unsuccessful: [outcome.unsuccessfulTitle, explainFailure(view, network)],
  };
  return texts[stage];
}

function explainFailure({ checkout, locale }: CheckoutView, network: string): string {
  const { failures } = locale.texts.outcome;
  switch (checkout.payment.last_error_code) {
    case 'amount_underpaid':
      return failures.underpaid;
    case 'transaction_reverted':
      return failures.reverted(network);
    default:
      return failures.other;
  }
}

/** What a payer can do after a payment that ended without success, and whom to contact. */
function renderNextSteps(view: CheckoutView, stage: OutcomeStage): Html | null {
  if (stage !== 'expired' && stage !== 'cancelled' && stage !== 'unsuccessful') return null;
  const { outcome } = view.locale.texts;
  const merchant = merchantOf(view);
  const contact = renderContact(view);
  const steps =
    stage === 'unsuccessful'
      ? [outcome.settle(merchant), outcome.startAgain(merchant)]
      : [outcome.startAgain(merchant), outcome.sentAlready(merchant)];
  return html`<div class="next"><h2>${outcome.nextTitle}</h2>
<ul>${steps.map(step => html`<li>${step}</li>`)}</ul>
${contact && html`<p>${outcome.contact(contact)}</p>`}</div>`;
}

/** The link back to the merchant. After a payment the script follows it automatically. */
function renderReturn(view: CheckoutView, stage: OutcomeStage): Html | null {
  const target = redirectTarget(view.checkout.payment);
  if (target === null || stage === 'overdue') return null;
  const { outcome } = view.locale.texts;
  const label = outcome.returnTo(merchantOf(view));
  if (stage !== 'paid') {
    const look = stage === 'confirming' ? 'button quiet' : 'button';
    return html`<p><a class="${look}" id="return" href="${target}" rel="noreferrer">${label}</a></p>`;
  }
  return html`<p><a class="button" id="return" href="${target}" rel="noreferrer" data-automatic>${label}</a></p>
<p class="returning" hidden><span>${outcome.returning(html`<span class="seconds"></span>`)}</span> <button class="plain" type="button" id="stay">${outcome.stay}</button></p>`;
}

/** The merchant's contact for payers; null if there is none. */
function renderContact({ checkout: { shop, payment }, locale }: CheckoutView): Html | null {
  const { supportContact: contact } = shop;
  if (contact === null) return null;
  if (contact.startsWith('https://')) {
    return html`<a class="contact" href="${contact}" target="_blank" rel="noreferrer noopener">${contact.replace('https://', '').replace(/\/$/, '')}<span class="visually-hidden"> (${locale.texts.opensNewTab})</span></a>`;
  }
  // An address may contain characters that begin another part of a URL, such as `?`.
  const address = contact.split('@').map(encodeURIComponent).join('@');
  const subject = encodeURIComponent(payment.id);
  return html`<a class="contact" href="mailto:${address}?subject=${subject}">${contact}</a>`;
}

/** The payer's receipt. The transaction follows it on the page. */
function renderReceipt(view: CheckoutView, quote: Quote | null): Html {
  const { checkout, locale } = view;
  const { receipt, orderReference } = locale.texts;
  const { paid_at: paidAt, customer_reference_id: reference } = checkout.payment;
  // May differ from the quote: more is accepted, and so is less within the merchant's tolerance.
  const sent = quote && { ...quote, tokenAmount: checkout.received ?? quote.tokenAmount };
  const rows: readonly (readonly [string, string | Html | null])[] = [
    [receipt.to, merchantOf(view)],
    [orderReference, reference],
    [receipt.total, locale.format.dollars(billOf(checkout.payment).total)],
    [receipt.sent, sent && amountOf(view, sent)],
    [receipt.network, quote?.networkName ?? null],
    [receipt.price, priceOf(view)],
    [receipt.when, paidAt && locale.format.dateAndTime(paidAt)],
  ];
  return html`<h2 class="visually-hidden">${receipt.title}</h2>
<dl class="values receipt">
${rows.map(([name, value]) => value !== null && value !== '' && html`<div class="value"><dt>${name}</dt><dd><bdi>${value}</bdi></dd></div>\n`)}</dl>
<p class="print" hidden><button class="plain" type="button" id="print">${receipt.print}</button></p>`;
}
