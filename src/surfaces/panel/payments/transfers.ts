import type { FastifyRequest } from 'fastify';
import { explorerPage } from '#accounts/explorer-url.ts';
import type {
  AmountOfAsset,
  CountedTransfer,
  CountedTransfers,
} from '#payments/counted-transfers.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { MerchantTransfer } from '#storage/repositories/deposits/transfers.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import { texts } from '../hooks/language.ts';
import { dateTime } from '../kit/format.ts';
import { ownUrl } from '../kit/navigation.ts';
import { assetAmount } from '../kit/networks.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/**
 * The transfers that arrived for the payment or were meant for it, what each was counted for, and what became of it.
 */
export function renderTransfers(
  request: FastifyRequest,
  { listed, earlier, excess }: CountedTransfers<MerchantTransfer>,
): Html | null {
  const { transfers: words } = texts(request).payments;
  if (listed.length === 0) return null;
  return html`<section aria-labelledby="transfers"><h2 id="transfers">${words.title}</h2>
<ul class="rows">${listed.map(each => renderTransfer(request, each))}</ul>
${earlier > 0 && html`<p class="quiet">${words.earlier(earlier)}</p>`}
${excess !== null && html`<p>${words.excess(amountOf(excess))}</p>`}</section>`;
}

function renderTransfer(
  request: FastifyRequest,
  { transfer, countedFor, became }: CountedTransfer<MerchantTransfer>,
): Html {
  const words = texts(request);
  const { network_name: networkName, state, observed_at: at } = transfer;
  const { timeline, transfers } = words.payments;
  const outcome = became === null ? null : becameOf(request, transfer);
  return html`<li><div>
${transfers.arrived(html`<strong>${amountOf(transfer)}</strong>`, networkName, dateTime(words, at))}: ${timeline.states[state]}<br>
${transfers.countedFor[countedFor]}${outcome !== null && html` ${outcome}`}<br>
${hashOf(transfer)}</div></li>`;
}

/** An amount with its asset. */
export function amountOf(amount: AmountOfAsset): string {
  return assetAmount(amount.token_amount, amount.asset_decimals, amount.asset_symbol);
}

function hashOf({ transaction_hash: hash, explorer }: MerchantTransfer): Html {
  const code = html`<code>${hash}</code>`;
  if (explorer === null) return code;
  return html`<a href="${explorerPage(explorer, hash)}" rel="noreferrer">${code}</a>`;
}

function becameOf(request: FastifyRequest, transfer: MerchantTransfer): Html | string | null {
  const words = texts(request);
  const { id, payment_id: paymentId, stray_kind: strayKind } = transfer;
  const { transfers } = words.payments;
  if (strayKind === null) return returnOf(words, transfer);
  if (paymentId !== null) {
    return transfer.taker_id === membershipOf(request).accountId
      ? transfers.assignedOwn(ownUrl(request, `/payments/${paymentId}`))
      : transfers.assigned;
  }
  if (transfer.dismissed_at !== null) return remedyOf(words, transfer);
  return transfer.is_own
    ? html`<a href="${ownUrl(request, `/unmatched/${id}`)}">${transfers.waits}</a>`
    : transfers.waitsForOperator;
}

/** How a part of the payment was given back. */
function returnOf(words: PanelTexts, transfer: MerchantTransfer): Html | null {
  const { returned_at: at, returned_to: to, return_hash: hash, return_note: note } = transfer;
  if (at === null) return null;
  const { givenBack } = words.payments.transfers;
  const given = givenBack(to, html`<code>${hash}</code>`, dateTime(words, at));
  return html`${given}${note !== null && html` ${note}`}`;
}

/** What was done with the money of a deposit. */
export function remedyOf(
  { payments: { transfers } }: PanelTexts,
  deposit: Pick<Deposit, 'remedy' | 'remedy_note' | 'remedy_to' | 'remedy_hash'>,
): Html {
  const { remedy, remedy_note: note, remedy_to: to, remedy_hash: hash } = deposit;
  const added = note !== null && html` ${note}`;
  switch (remedy) {
    case 'returned':
      return html`${transfers.returned(to, html`<code>${hash}</code>`)}${added}`;
    case 'kept':
      return html`${transfers.kept}${added}`;
    default:
      return html`${transfers.other}${added}`;
  }
}
