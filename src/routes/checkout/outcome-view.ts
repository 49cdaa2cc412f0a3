import { redirectTarget } from '../../checkout/checkout.ts';
import type { CheckoutStage } from '../../checkout/stage.ts';
import { type Html, html } from '../pages/html.ts';
import { renderConfirmations } from './confirmations.ts';
import { renderExplorerLink } from './explorer-link.ts';
import { dateAndTime } from './format.ts';
import { type CheckoutView, merchantOf, type Quote } from './view.ts';
import { copyButton, renderProgress } from './waiting-view.ts';

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
  const { title, text } = describe(view, stage, quote);
  const { transaction_hash: hash } = view.checkout.payment;
  const { confirmations } = view.checkout.progress;
  return html`<section class="card outcome ${stage}">
<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="${MARKS[stage]}"/></svg>
<h1 id="title" tabindex="-1">${title}</h1>
<p>${text}</p>
${stage === 'paid' && renderReceipt(view, quote)}
${stage === 'confirming' && confirmations && renderConfirmations(confirmations)}
${hash && html`<dl class="values"><div class="value"><dt>Transaction</dt><dd><code class="text" id="hash">${hash}</code> ${copyButton(hash, 'transaction')}</dd></div></dl>`}
${hash && renderExplorerLink(view.checkout, hash)}
${(stage === 'confirming' || stage === 'overdue') && renderProgress(view, 'Not final yet.')}
${renderReturn(view, stage)}
</section>`;
}

function describe(
  view: CheckoutView,
  stage: OutcomeStage,
  quote: Quote | null,
): { title: string; text: string } {
  const merchant = merchantOf(view.checkout);
  const network = quote?.networkName ?? 'the network';
  const contact = `If you have sent something already, contact ${merchant}.`;
  switch (stage) {
    case 'paid':
      return { title: 'Paid', text: `${merchant} has received your payment. Thank you.` };
    case 'confirming':
      return {
        title: 'Payment seen',
        text: `Your transfer has been seen and is being confirmed by ${network}. You need not do anything more; you may close this page.`,
      };
    case 'overdue':
      return {
        title: 'Time is up',
        text: view.checkout.progress.isDelayed
          ? `Do not send anything any more. Transfers on ${network} are seen with a delay just now, and this payment is still being checked: yours counts if it was sent in time.`
          : 'Do not send anything any more. We are checking for a payment that came at the last moment.',
      };
    case 'expired':
      return {
        title: 'Time is up',
        text: `No payment arrived in time. Do not send anything to the address that was shown. ${contact}`,
      };
    case 'cancelled':
      return {
        title: 'Payment cancelled',
        text: `Nothing is to be paid. ${contact}`,
      };
    case 'unsuccessful':
      return {
        title: 'Payment unsuccessful',
        text: `${explainFailure(view.checkout.payment.last_error_code, network)} Contact ${merchant} to settle it, or start again there.`,
      };
  }
}

function explainFailure(code: string | null, network: string): string {
  switch (code) {
    case 'amount_underpaid':
      return 'Less than the amount asked for arrived before the time was up.';
    case 'transaction_reverted':
      return `The transaction failed on ${network}.`;
    default:
      return 'The payment could not be completed.';
  }
}

function renderReceipt({ checkout }: CheckoutView, quote: Quote | null): Html {
  const { paid_at: paidAt } = checkout.payment;
  return html`<dl class="values">
${quote && html`<div class="value"><dt>Amount</dt><dd>${quote.amount} ${quote.symbol} on ${quote.networkName}</dd></div>`}
${paidAt && html`<div class="value"><dt>When</dt><dd>${dateAndTime(paidAt)}</dd></div>`}
</dl>`;
}

/** The link back to the merchant. After a payment the script follows it automatically. */
function renderReturn({ checkout }: CheckoutView, stage: OutcomeStage): Html | null {
  const target = redirectTarget(checkout.payment);
  if (target === null || stage === 'overdue') return null;
  const label = `Return to ${merchantOf(checkout)}`;
  if (stage !== 'paid') {
    const look = stage === 'confirming' ? 'button quiet' : 'button';
    return html`<p><a class="${look}" id="return" href="${target}" rel="noreferrer">${label}</a></p>`;
  }
  return html`<p><a class="button" id="return" href="${target}" rel="noreferrer" data-automatic>${label}</a></p>
<p class="returning" hidden><span>Returning in <span class="seconds"></span> s.</span> <button class="plain" type="button" id="stay">Stay here</button></p>`;
}
