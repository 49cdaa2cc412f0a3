import { explorerPage } from '#accounts/explorer-url.ts';
import type { CountedTransfer, CountedTransfers } from '#payments/counted-transfers.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { MerchantTransfer } from '#storage/repositories/deposits/transfers.ts';
import { type Html, html } from '../../pages/html.ts';
import { dateTime } from '../kit/format.ts';
import { texts } from '../texts/index.ts';

const { transfers: words, timeline } = texts.payments;

export interface TransferParts {
  readonly transfers: CountedTransfers<MerchantTransfer>;
  readonly merchantId: string;
  /** Path of the account, with the base path. */
  readonly accountUrl: string;
}

/**
 * The transfers that arrived for the payment or were meant for it, what each was counted for, and what became of it.
 */
export function renderTransfers(parts: TransferParts): Html | null {
  const { listed, earlier } = parts.transfers;
  if (listed.length === 0) return null;
  return html`<section aria-labelledby="transfers"><h2 id="transfers">${words.title}</h2>
<ul class="rows">${listed.map(each => renderTransfer(each, parts))}</ul>
${earlier > 0 && html`<p class="quiet">${words.earlier(earlier)}</p>`}</section>`;
}

function renderTransfer(counted: CountedTransfer<MerchantTransfer>, parts: TransferParts): Html {
  const { transfer, countedFor, became } = counted;
  const { network_name: networkName, state, observed_at: at } = transfer;
  const outcome = became === null ? null : becameOf(transfer, parts);
  return html`<li><div>
${words.arrived(html`<strong>${amountOf(transfer)}</strong>`, networkName, dateTime(texts, at))}: ${timeline.states[state]}<br>
${words.countedFor[countedFor]}${outcome !== null && html` ${outcome}`}<br>
${hashOf(transfer)}</div></li>`;
}

/** An amount with its asset. */
export function amountOf({
  token_amount: units,
  asset_decimals: assetDecimals,
  asset_symbol: assetSymbol,
}: Pick<MerchantTransfer, 'token_amount' | 'asset_decimals' | 'asset_symbol'>): string {
  return `${formatBaseUnits(BigInt(units), assetDecimals)} ${assetSymbol}`;
}

function hashOf({ transaction_hash: hash, explorer }: MerchantTransfer): Html {
  const code = html`<code>${hash}</code>`;
  if (explorer === null) return code;
  return html`<a href="${explorerPage(explorer, hash)}" rel="noreferrer">${code}</a>`;
}

function becameOf(
  transfer: MerchantTransfer,
  { merchantId, accountUrl }: TransferParts,
): Html | string | null {
  const { id, payment_id: paymentId, stray_kind: strayKind } = transfer;
  if (strayKind === null) return returnOf(transfer);
  if (paymentId !== null) {
    return transfer.taker_id === merchantId
      ? words.assignedOwn(`${accountUrl}/payments/${paymentId}`)
      : words.assigned;
  }
  if (transfer.dismissed_at !== null) return remedyOf(transfer);
  return transfer.is_own
    ? html`<a href="${accountUrl}/unmatched/${id}">${words.waits}</a>`
    : words.waitsForOperator;
}

/** How a part of the payment was given back. */
function returnOf(transfer: MerchantTransfer): Html | null {
  const {
    returned_at: at,
    returned_to: returnedTo,
    return_hash: returnHash,
    return_note: returnNote,
  } = transfer;
  if (at === null) return null;
  const given = words.givenBack(returnedTo, html`<code>${returnHash}</code>`, dateTime(texts, at));
  return html`${given}${returnNote !== null && html` ${returnNote}`}`;
}

function remedyOf({
  remedy,
  remedy_note: note,
  remedy_to: to,
  remedy_hash: hash,
}: MerchantTransfer): Html {
  const added = note !== null && html` ${note}`;
  switch (remedy) {
    case 'returned':
      return html`${words.returned(to, html`<code>${hash}</code>`)}${added}`;
    case 'kept':
      return html`${words.kept}${added}`;
    default:
      return html`${words.other}${added}`;
  }
}
