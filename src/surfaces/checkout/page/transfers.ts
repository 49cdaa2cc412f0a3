import {
  type AmountOfAsset,
  type CountedTransfer,
  countTransfers,
} from '#payments/counted-transfers.ts';
import { type Html, html } from '../../pages/html.ts';
import { copyButton } from './copy-button.ts';
import { renderShortHash } from './explorer-link.ts';
import { type CheckoutView, merchantOf } from './view.ts';

/** What has arrived for the payment, transfer by transfer, and what each was counted for. */
export function renderTransfers(view: CheckoutView): Html | null {
  const { payment, transfers } = view.checkout;
  const { listed, earlier, excess } = countTransfers(payment, transfers);
  if (listed.length === 0) return null;
  const { texts, format } = view.locale;
  return html`<section class="transfers" aria-labelledby="transfers"><h2 id="transfers">${texts.transfers.title}</h2>
<ul>${listed.map(each => renderTransfer(view, each))}</ul>
${earlier > 0 && html`<p class="facts">${texts.transfers.earlier(format.number(earlier))}</p>`}
${excess !== null && html`<p>${texts.transfers.excess(formatAmount(view, excess))}</p>`}</section>`;
}

function formatAmount(
  { locale }: CheckoutView,
  { token_amount: units, asset_decimals: decimals, asset_symbol: symbol }: AmountOfAsset,
): string {
  return locale.format.amount(BigInt(units), decimals, symbol);
}

function renderTransfer(view: CheckoutView, counted: CountedTransfer): Html {
  const { transfer, countedFor, became } = counted;
  const { id, transaction_hash: hash, state, explorer } = transfer;
  const { locale } = view;
  const { transfers, waiting } = locale.texts;
  const at = locale.format.dateAndTime(transfer.observed_at);
  return html`<li${became !== null && html` class="notice"`}>
<p><strong>${formatAmount(view, transfer)}</strong> ${waiting.on(transfer.network_name)}</p>
<p>${transfers.countedFor[countedFor]} ${became && renderBecame(view, counted)}</p>
<p class="facts">${transfers.states[state]} · ${transfers.seenAt(at)}<br>
${renderShortHash(locale, hash, explorer)} ${became === 'waits' && copyButton(locale, hash, 'transaction', `transaction-${id}`)}</p></li>
`;
}

function renderBecame(view: CheckoutView, { became, returnHash }: CountedTransfer): Html | string {
  const texts = view.locale.texts.transfers.became;
  if (became === 'returned') {
    return html`${texts.returned} <code dir="ltr">${returnHash}</code>`;
  }
  return became === 'settled' ? texts.settled(merchantOf(view)) : texts.waits(merchantOf(view));
}
