import { leastAmount } from '#onchain/settlement/least-amount.ts';
import { agreedPrice } from '#onchain/settlement/quote-amounts.ts';
import type { Remaining } from '#onchain/settlement/remaining.ts';
import { dueCents } from '#payments/commission.ts';
import { isStablecoin } from '#payments/rates/assets.ts';
import { renderDisclosure } from '../../pages/disclosure.ts';
import { type Html, html } from '../../pages/html.ts';
import { renderQrCode } from '../../pages/qr-code.ts';
import { paymentUri, plainWalletUri, walletUri } from '../payment-uri.ts';
import { copyButton } from './copy-button.ts';
import type { Locale } from './locale.ts';
import { renderTransfers } from './transfers.ts';
import {
  amountOf,
  type CheckoutView,
  hasParts,
  merchantOf,
  plainAmountOf,
  type Quote,
  quoteOf,
} from './view.ts';

/** Characters at each end of an address that are emphasized: people compare those. */
const COMPARED = 6;

/** Renders what the customer needs to pay: address, amount and QR code. */
export function renderWaiting(view: CheckoutView, quote: Quote): Html {
  if (view.checkout.progress.rest === 'awaited') return renderAwaited(view, quote);
  const { waiting } = view.locale.texts;
  const wallet = walletUri(quote);
  const amount = amountOf(view, quote);
  const { quoted_until: quotedUntil, expires_at: expiresAt } = view.checkout.payment;
  const warning = view.checkout.progress.isOwnAddress ? waiting.ownAddress : waiting.warning;
  const title = isRest(view) ? waiting.titleMore(amount) : waiting.title(amount);
  return html`<section class="card pay">
<div class="lead">
<h1 id="title" tabindex="-1">${title} <span class="on">${waiting.on(quote.networkName)}</span></h1>
${renderDeadline(view.locale, 'pay', quotedUntil ?? expiresAt)}
</div>
${renderProblem(view, quote)}
${view.checkout.progress.isDelayed && renderDelay(view, quote)}
<div class="scan">
${renderQrCode(paymentUri(quote), wallet ? waiting.qrOfBoth : waiting.qrOfAddress)}
${wallet && html`<a class="button" href="${wallet}" rel="noreferrer">${waiting.openWallet}</a>`}
</div>
<div class="details">
<dl class="values">
<div class="value"><dt>${waiting.amount}</dt>
<dd><bdi dir="ltr"><span class="text" id="amount">${view.locale.format.tokens(quote.tokenAmount, quote.decimals)}</span> ${quote.symbol}</bdi> ${copyButton(view.locale, plainAmountOf(quote), 'amount')}</dd></div>
<div class="value"><dt>${waiting.address}</dt>
<dd>${renderAddress(quote.address)} ${copyButton(view.locale, quote.address, 'address')}</dd></div>
${renderRate(view)}
</dl>
<p class="warning">${warning(html`<strong>${amount}</strong>`, html`<strong>${quote.networkName}</strong>`)}</p>
</div>
${renderTransfers(view)}
${renderProgress(view, waiting.progress)}
</section>`;
}

/** A QR code and link without `reference`, for wallets that refuse one; null if the first code has none. */
export function renderPlainCode({ locale }: CheckoutView, quote: Quote): Html | null {
  const { waiting } = locale.texts;
  const wallet = plainWalletUri(quote);
  if (wallet === undefined) return null;
  const content = html`<p>${waiting.plainCode}</p>
<div class="scan">
${renderQrCode(wallet, waiting.qrOfBoth)}
<a class="button" href="${wallet}" rel="noreferrer">${waiting.openWallet}</a>
</div>`;
  return renderDisclosure('plain-code', waiting.refusedCode, content);
}

/** Shows no amount until an underpayment is final: a payer who sent the whole amount now would pay too much. */
function renderAwaited(view: CheckoutView, quote: Quote): Html {
  const { waiting } = view.locale.texts;
  return html`<section class="card">
<div class="lead"><h1 id="title" tabindex="-1">${waiting.awaitedTitle}</h1>
${renderDeadline(view.locale, 'pay', view.checkout.payment.expires_at)}</div>
${view.checkout.progress.isDelayed && renderDelay(view, quote)}
<p class="notice" id="problem">${waiting.awaited(amountOf(view, quote))}</p>
${renderTransfers(view)}
${renderProgress(view, waiting.notFinal)}
</section>`;
}

/** A deadline. The script turns it into a countdown. */
export function renderDeadline({ texts, format }: Locale, what: 'choose' | 'pay', at: Date): Html {
  const time = format.timeOfDay(at);
  const text = what === 'pay' ? texts.waiting.payBefore(time) : texts.choose.chooseBefore(time);
  return html`<p class="deadline" role="timer" data-countdown="${at.toISOString()}" data-to="${what}">${text}</p>`;
}

/** Says that the page updates itself or, without a script, offers a link to reload it. */
export function renderProgress({ path, locale }: CheckoutView, text: string): Html {
  const { live, checkAgain } = locale.texts.waiting;
  return html`<p class="progress"><span class="pulse" aria-hidden="true"></span>${text} <span class="live" hidden>${live}</span> <a class="refresh" href="${path}${locale.query}">${checkAgain}</a></p>`;
}

/** The price of one whole unit; null for a stablecoin, which is a dollar anyway. */
export function priceOf({ checkout, locale }: CheckoutView): string | null {
  const quote = quoteOf(checkout);
  if (quote === null || isStablecoin(quote.symbol)) return null;
  const price = agreedPrice(dueCents(checkout.payment), quote.tokenAmount, quote.decimals);
  return `${locale.format.amount(1n, 0, quote.symbol)} = ${locale.format.price(price)}`;
}

function renderRate(view: CheckoutView): Html | null {
  const { waiting } = view.locale.texts;
  const { quoted_at: since } = view.checkout.payment;
  const price = priceOf(view);
  if (price === null || since === null) return null;
  return html`<div class="value"><dt>${waiting.price}</dt><dd><span>${waiting.rate(price, view.locale.format.timeOfDay(since))}</span></dd></div>`;
}

function renderDelay({ locale }: CheckoutView, { networkName }: Quote): Html {
  return html`<p class="notice" id="delay">${locale.texts.waiting.delayed(networkName)}</p>`;
}

function renderAddress(address: string): Html {
  const start = address.slice(0, COMPARED);
  const end = address.slice(-COMPARED);
  return html`<code class="text address" id="address" dir="ltr"><b>${start}</b>${address.slice(COMPARED, -COMPARED)}<b>${end}</b></code>`;
}

function isRest({ checkout }: CheckoutView): boolean {
  const { rest } = checkout.progress;
  return rest !== null && rest !== 'awaited';
}

/** What has arrived, and what completes the payment. */
function renderRest(view: CheckoutView, due: Quote, { received }: Remaining): Html {
  const { waiting } = view.locale.texts;
  const askFor = view.checkout.progress.isOwnAddress ? waiting.ownRest : waiting.rest;
  const whole = quoteOf(view.checkout) ?? due;
  const row = (name: string, quote: Quote) =>
    html`<div><dt>${name}</dt><dd><bdi>${amountOf(view, quote)}</bdi></dd></div>`;
  return html`<div class="notice" id="problem"><p><strong>${waiting.tooLittle}</strong> ${askFor(amountOf(view, due))} ${isRaised(view, received) && waiting.restRaised}</p>
<dl class="sums">${row(waiting.asked, whole)}${row(waiting.received, { ...whole, tokenAmount: received })}${row(waiting.due, due)}</dl></div>`;
}

/** Whether the missing amount is too little to be sent, so that more is due. */
function isRaised({ checkout: { payment, network } }: CheckoutView, received: bigint): boolean {
  const { address, token_amount: whole } = payment;
  if (network === null || address === null || whole === null) return false;
  return BigInt(whole) - received < leastAmount(network, address, true);
}

function renderProblem(view: CheckoutView, quote: Quote): Html | null {
  const { waiting } = view.locale.texts;
  const { rest } = view.checkout.progress;
  switch (view.checkout.payment.last_error_code) {
    case 'amount_underpaid':
      if (rest !== null && rest !== 'awaited') return renderRest(view, quote, rest);
      return html`<p class="notice" id="problem"><strong>${waiting.tooLittle}</strong> ${hasParts(view.checkout) ? waiting.partsElsewhere(amountOf(view, quote)) : waiting.noRest(amountOf(view, quote), merchantOf(view))}</p>`;
    case 'transfer_reversed':
      return html`<p class="notice" id="problem"><strong>${waiting.reversed(quote.networkName)}</strong> ${waiting.sendAgain}</p>`;
    default:
      return null;
  }
}
