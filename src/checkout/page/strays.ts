import { type Html, html } from '../../pages/html.ts';
import type { StrayDeposit } from '../../repositories/deposits/deviations.ts';
import { type CheckoutView, merchantOf } from './view.ts';

/** Transfers of exactly the amount that did not count for the payment, and what became of each. */
export function renderStrays(view: CheckoutView): Html | null {
  const { strays } = view.checkout;
  if (strays.length === 0) return null;
  return html`<div class="strays">${strays.map(stray => renderStray(view, stray))}</div>`;
}

function renderStray(view: CheckoutView, stray: StrayDeposit): Html {
  const { locale } = view;
  const { strays, outcome } = locale.texts;
  const units = BigInt(stray.token_amount);
  const amount = locale.format.amount(units, stray.assetDecimals, stray.assetSymbol);
  const hash = (text: string) =>
    html`<dl class="values"><div class="value"><dt>${outcome.transaction}</dt><dd><code class="text" dir="ltr">${text}</code></dd></div></dl>`;
  const isSettled = stray.dismissed_at !== null || stray.payment_id !== null;
  const merchant = merchantOf(view);
  const became =
    stray.remedy_hash !== null
      ? html`<p>${strays.returned}</p>${hash(stray.remedy_hash)}`
      : html`<p>${isSettled ? strays.settled(merchant) : strays.waits(merchant)}</p>`;
  return html`<p class="notice">${stray.kind === 'late' ? strays.late(amount) : strays.duplicate(amount)}</p>
${hash(stray.transaction_hash)}
${became}`;
}
