import { explorerPage } from '#accounts/explorer-url.ts';
import type {
  AmountOfAsset,
  CountedTransfer,
  CountedTransfers,
} from '#payments/counted-transfers.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { MerchantTransfer } from '#storage/repositories/deposits/transfers.ts';
import { type Html, html } from '../../pages/html.ts';
import { dateTime } from '../kit/format.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

export interface TransferParts {
  readonly transfers: CountedTransfers<MerchantTransfer>;
  readonly merchantId: string;
  /** Path of the account, with the base path. */
  readonly accountUrl: string;
}

/**
 * The transfers that arrived for the payment or were meant for it, what each was counted for, and what became of it.
 */
export function renderTransfers(words: PanelTexts, parts: TransferParts): Html | null {
  const { listed, earlier, excess } = parts.transfers;
  const { transfers: texts } = words.payments;
  if (listed.length === 0) return null;
  return html`<section aria-labelledby="transfers"><h2 id="transfers">${texts.title}</h2>
<ul class="rows">${listed.map(each => renderTransfer(words, each, parts))}</ul>
${earlier > 0 && html`<p class="quiet">${texts.earlier(earlier)}</p>`}
${excess !== null && html`<p>${texts.excess(amountOf(excess))}</p>`}</section>`;
}

function renderTransfer(
  words: PanelTexts,
  counted: CountedTransfer<MerchantTransfer>,
  parts: TransferParts,
): Html {
  const { transfer, countedFor, became } = counted;
  const { network_name: networkName, state, observed_at: at } = transfer;
  const { timeline, transfers: texts } = words.payments;
  const outcome = became === null ? null : becameOf(words, transfer, parts);
  return html`<li><div>
${texts.arrived(html`<strong>${amountOf(transfer)}</strong>`, networkName, dateTime(words, at))}: ${timeline.states[state]}<br>
${texts.countedFor[countedFor]}${outcome !== null && html` ${outcome}`}<br>
${hashOf(transfer)}</div></li>`;
}

/** An amount with its asset. */
export function amountOf({
  token_amount: units,
  asset_decimals: assetDecimals,
  asset_symbol: assetSymbol,
}: AmountOfAsset): string {
  return `${formatBaseUnits(BigInt(units), assetDecimals)} ${assetSymbol}`;
}

function hashOf({ transaction_hash: hash, explorer }: MerchantTransfer): Html {
  const code = html`<code>${hash}</code>`;
  if (explorer === null) return code;
  return html`<a href="${explorerPage(explorer, hash)}" rel="noreferrer">${code}</a>`;
}

function becameOf(
  words: PanelTexts,
  transfer: MerchantTransfer,
  { merchantId, accountUrl }: TransferParts,
): Html | string | null {
  const { id, payment_id: paymentId, stray_kind: strayKind } = transfer;
  const { transfers: texts } = words.payments;
  if (strayKind === null) return returnOf(words, transfer);
  if (paymentId !== null) {
    return transfer.taker_id === merchantId
      ? texts.assignedOwn(`${accountUrl}/payments/${paymentId}`)
      : texts.assigned;
  }
  if (transfer.dismissed_at !== null) return remedyOf(words, transfer);
  return transfer.is_own
    ? html`<a href="${accountUrl}/unmatched/${id}">${texts.waits}</a>`
    : texts.waitsForOperator;
}

/** How a part of the payment was given back. */
function returnOf(words: PanelTexts, transfer: MerchantTransfer): Html | null {
  const {
    returned_at: at,
    returned_to: returnedTo,
    return_hash: returnHash,
    return_note: returnNote,
  } = transfer;
  if (at === null) return null;
  const { transfers: texts } = words.payments;
  const given = texts.givenBack(returnedTo, html`<code>${returnHash}</code>`, dateTime(words, at));
  return html`${given}${returnNote !== null && html` ${returnNote}`}`;
}

/** What was done with the money of a deposit. */
export function remedyOf(
  { payments: { transfers: texts } }: PanelTexts,
  {
    remedy,
    remedy_note: note,
    remedy_to: to,
    remedy_hash: hash,
  }: Pick<Deposit, 'remedy' | 'remedy_note' | 'remedy_to' | 'remedy_hash'>,
): Html {
  const added = note !== null && html` ${note}`;
  switch (remedy) {
    case 'returned':
      return html`${texts.returned(to, html`<code>${hash}</code>`)}${added}`;
    case 'kept':
      return html`${texts.kept}${added}`;
    default:
      return html`${texts.other}${added}`;
  }
}
