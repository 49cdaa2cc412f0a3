import { type Html, html } from '../../pages/html.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import type { StrayDeposit } from '../../repositories/deposits/deviations.ts';
import { dateTime } from '../format.ts';
import { texts } from '../texts/index.ts';

const { strays: strayTexts } = texts.payments;

export interface StrayParts {
  readonly strays: readonly StrayDeposit[];
  readonly merchantId: string;
  /** Path of the account, with the base path. */
  readonly accountUrl: string;
}

/** Deposits of exactly the payment's amount that did not count for it, and how each was settled. */
export function renderStrays(parts: StrayParts): Html | null {
  const { strays } = parts;
  if (strays.length === 0) return null;
  return html`<section aria-labelledby="strays"><h2 id="strays">${strayTexts.title}</h2>
<ul class="rows">${strays.map(
    stray => html`<li><div>
${describe(stray)}<br>
<code>${stray.transaction_hash}</code><br>
${becameOf(stray, parts)}</div></li>`,
  )}</ul></section>`;
}

function describe({
  kind,
  token_amount: units,
  assetDecimals,
  assetSymbol,
  observed_at: at,
}: StrayDeposit): Html {
  const amount = `${formatBaseUnits(BigInt(units), assetDecimals)} ${assetSymbol}`;
  return kind === 'late'
    ? strayTexts.late(amount, dateTime(at))
    : strayTexts.duplicate(amount, dateTime(at));
}

function becameOf(stray: StrayDeposit, { merchantId, accountUrl }: StrayParts): Html | string {
  const { id, payment_id: paymentId, remedy, remedy_note: note } = stray;
  if (paymentId !== null) {
    return stray.takerId === merchantId
      ? strayTexts.assignedOwn(`${accountUrl}/payments/${paymentId}`)
      : strayTexts.assigned;
  }
  if (stray.dismissed_at === null) {
    return stray.isOwn
      ? html`<a href="${accountUrl}/unmatched/${id}">${strayTexts.waits}</a>`
      : strayTexts.waitsForOperator;
  }
  const added = note !== null && html` ${note}`;
  switch (remedy) {
    case 'returned':
      return html`${strayTexts.returned(stray.remedy_to, html`<code>${stray.remedy_hash}</code>`)}${added}`;
    case 'kept':
      return html`${strayTexts.kept}${added}`;
    default:
      return html`${strayTexts.other}${added}`;
  }
}
