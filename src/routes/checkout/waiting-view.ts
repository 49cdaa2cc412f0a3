import type { Checkout } from '../../checkout/checkout.ts';
import { paymentUri, walletUri } from '../../checkout/payment-uri.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import type { Remaining } from '../../settlement/remaining.ts';
import { type Html, html } from '../pages/html.ts';
import { renderQrCode } from '../pages/qr-code.ts';
import { timeOfDay } from './format.ts';
import { type CheckoutView, merchantOf, type Quote, quoteOf } from './view.ts';

/** Characters at each end of an address that are emphasized, because people compare those. */
const COMPARED = 6;

/** Renders what the customer needs to pay: address, amount and QR code. */
export function renderWaiting(view: CheckoutView, quote: Quote): Html {
  if (view.checkout.progress.rest === 'awaited') return renderAwaited(view, quote);
  const wallet = walletUri(quote);
  const { quoted_until: quotedUntil, expires_at: expiresAt } = view.checkout.payment;
  const qr = `QR code of ${wallet === undefined ? 'the address' : 'address and amount'}`;
  return html`<section class="card pay">
<div class="lead">
<h1 id="title" tabindex="-1">Send ${quote.amount} ${quote.symbol}${isRest(view) && ' more'} <span class="on">on ${quote.networkName}</span></h1>
${renderDeadline(quotedUntil ?? expiresAt)}
</div>
${renderProblem(view, quote)}
${view.checkout.progress.isDelayed && renderDelay(quote)}
<div class="scan">
${renderQrCode(paymentUri(quote), qr)}
${wallet && html`<a class="button" href="${wallet}" rel="noreferrer">Open wallet</a>`}
</div>
<div class="details">
<dl class="values">
<div class="value"><dt>Exact amount</dt>
<dd><span class="text" id="amount">${quote.amount}</span> ${quote.symbol} ${copyButton(quote.amount, 'amount')}</dd></div>
<div class="value"><dt>Address</dt>
<dd>${renderAddress(quote.address)} ${copyButton(quote.address, 'address')}</dd></div>
</dl>
<p class="warning">Send exactly <strong>${quote.amount} ${quote.symbol}</strong> on <strong>${quote.networkName}</strong>, in one transfer. Another amount, coin or network may be lost. Your wallet’s network fee comes on top.</p>
</div>
${renderProgress(view, 'Waiting for your payment.')}
</section>`;
}

/** Whoever sent the whole amount now would pay too much. */
function renderAwaited(view: CheckoutView, quote: Quote): Html {
  return html`<section class="card">
<div class="lead"><h1 id="title" tabindex="-1">Too little was sent</h1>
${renderDeadline(view.checkout.payment.expires_at)}</div>
${view.checkout.progress.isDelayed && renderDelay(quote)}
<p class="notice" id="problem">Your transfer has been seen, and is less than ${quote.amount} ${quote.symbol}. Please send nothing more now: once it is final, this page shows what is still due.</p>
${renderProgress(view, 'Not final yet.')}
</section>`;
}

/** A deadline. The script turns it into a countdown. */
export function renderDeadline(at: Date): Html {
  return html`<p class="deadline" role="timer" data-countdown="${at.toISOString()}">Pay before ${timeOfDay(at)}</p>`;
}

/** Tells that the page updates itself, or without a script offers a link to reload it. */
export function renderProgress({ path }: CheckoutView, text: string): Html {
  return html`<p class="progress"><span class="pulse" aria-hidden="true"></span>${text} <span class="live" hidden>This page updates by itself.</span> <a class="refresh" href="${path}">Check again</a></p>`;
}

/** A copy button. It needs the script, so it is hidden until the script shows it. */
export function copyButton(value: string, what: string): Html {
  return html`<button class="copy" type="button" id="copy-${what}" data-copy="${value}" data-what="${what}" hidden>Copy<span class="visually-hidden"> ${what}</span></button>`;
}

function renderDelay({ networkName }: Quote): Html {
  return html`<p class="notice" id="delay">Transfers on ${networkName} are seen with a delay just now. Yours counts if it was sent in time.</p>`;
}

function renderAddress(address: string): Html {
  const start = address.slice(0, COMPARED);
  const end = address.slice(-COMPARED);
  return html`<code class="text address" id="address"><b>${start}</b>${address.slice(COMPARED, -COMPARED)}<b>${end}</b></code>`;
}

function isRest({ checkout }: CheckoutView): boolean {
  const { rest } = checkout.progress;
  return rest !== null && rest !== 'awaited';
}

/** What has arrived, and what completes the payment. */
function renderRest(
  checkout: Checkout,
  { amount, symbol, decimals }: Quote,
  rest: Remaining,
): Html {
  const received = formatBaseUnits(rest.received, decimals);
  const whole = quoteOf(checkout)?.amount;
  return html`<p class="notice" id="problem"><strong>Too little has arrived.</strong> Of ${whole} ${symbol} we have received ${received}. Send exactly ${amount} ${symbol} more, in one transfer and in time, to complete your payment.</p>`;
}

function renderProblem({ checkout }: CheckoutView, quote: Quote): Html | null {
  const merchant = merchantOf(checkout);
  const { rest } = checkout.progress;
  switch (checkout.payment.last_error_code) {
    case 'amount_underpaid':
      if (rest !== null && rest !== 'awaited') return renderRest(checkout, quote, rest);
      return html`<p class="notice" id="problem"><strong>Too little has arrived.</strong> Parts are not added up: send the exact amount of ${quote.amount} ${quote.symbol} in one transfer, and contact ${merchant} about what you have sent already.</p>`;
    case 'transfer_reversed':
      return html`<p class="notice" id="problem"><strong>${quote.networkName} has undone your transfer.</strong> If the funds are back in your wallet, please send them again.</p>`;
    default:
      return null;
  }
}
