import { type Html, html } from '../../pages/html.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import type { StrayDeposit } from '../../repositories/deposits/deviations.ts';
import { dateTime } from '../format.ts';

export interface StrayParts {
  readonly strays: readonly StrayDeposit[];
  /** IDs of those that wait in this merchant's inbox. */
  readonly waiting: ReadonlySet<string>;
  readonly merchantId: string;
  /** Path of the account, with the base path. */
  readonly accountUrl: string;
}

/** Deposits of exactly the payment's amount that did not count for it, and how each was settled. */
export function renderStrays(parts: StrayParts): Html | null {
  const { strays } = parts;
  if (strays.length === 0) return null;
  return html`<section aria-labelledby="strays"><h2 id="strays">Did not count</h2>
<ul class="rows">${strays.map(
    stray => html`<li><div>
${stray.kind === 'late' ? 'Arrived too late' : 'Duplicate, arrived again'}: ${formatBaseUnits(BigInt(stray.token_amount), stray.assetDecimals)} ${stray.assetSymbol}, ${dateTime(stray.observed_at)}<br>
<code>${stray.transaction_hash}</code><br>
${becameOf(stray, parts)}</div></li>`,
  )}</ul></section>`;
}

function becameOf(stray: StrayDeposit, { waiting, merchantId, accountUrl }: StrayParts): Html {
  const { id, payment_id: paymentId, remedy, remedy_note: note } = stray;
  if (paymentId !== null) {
    return stray.takerId === merchantId
      ? html`Assigned to <a href="${accountUrl}/payments/${paymentId}">another payment</a>.`
      : html`Assigned to another payment.`;
  }
  if (stray.dismissed_at === null) {
    return waiting.has(id)
      ? html`<a href="${accountUrl}/unmatched/${id}">Waits to be settled</a>`
      : html`Waits to be settled by your operator.`;
  }
  const added = note !== null && html` ${note}`;
  switch (remedy) {
    case 'returned':
      return html`Returned to ${stray.remedy_to} by <code>${stray.remedy_hash}</code>.${added}`;
    case 'kept':
      return html`Kept.${added}`;
    default:
      return html`Settled elsewhere.${added}`;
  }
}
