import { type Html, html } from '../../pages/html.ts';
import { billOf } from '../bill.ts';
import { amountOf, type CheckoutView, merchantOf, type Quote } from './view.ts';
import { priceOf } from './waiting-view.ts';

/** The payer's receipt. The transaction follows it on the page. */
export function renderReceipt(view: CheckoutView, quote: Quote | null): Html {
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
