import { type Static, Type } from '@sinclair/typebox';
import { Uuid } from '#schemas/scalars.ts';
import { type Html, html } from '../../pages/html.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import type { HistoricDeposit } from '../../repositories/payments/history.ts';
import { type FormFault, renderSelect } from '../form.ts';
import { dateTime } from '../format.ts';
import { texts } from '../texts/index.ts';
import { ReturnForm, renderReturn } from '../unmatched/remedy.ts';

const { parts: partTexts } = texts.payments;

/** Records that a part was given back. */
export const PartForm = Type.Object({
  deposit: Uuid('ID of the deposit.'),
  ...ReturnForm.properties,
});

/** The form of a payment's page. */
export interface PartFormShown {
  /** What the form was sent with; undefined at first. */
  readonly fields: Static<typeof PartForm> | undefined;
  /** Whether the reader may record a return. */
  readonly maySettle: boolean;
}

/** What has arrived for a payment that ended without the rest, and what was given back of it. */
export function renderParts(
  url: string,
  deposits: readonly HistoricDeposit[],
  { fields, maySettle }: PartFormShown,
  fault: FormFault | null,
): Html | null {
  const parts = deposits.filter(({ bookedAt }) => bookedAt !== null);
  if (parts.length === 0) return null;
  const kept = parts.filter(({ returnedAt }) => returnedAt === null);
  return html`<section aria-labelledby="parts"><h2 id="parts">${partTexts.title}</h2>
<ul class="rows">${parts.map(
    part => html`<li><div>
${partTexts.arrived(amountOf(part), dateTime(part.observed_at))}<br>
<code>${part.transaction_hash}</code>${returnOf(part)}</div></li>`,
  )}</ul>
${
  maySettle &&
  kept.length > 0 &&
  html`<form method="post" action="${url}/return" class="stack">
${renderSelect(
  'deposit',
  partTexts.part,
  kept.map(part => [part.id, partTexts.choice(amountOf(part), part.transaction_hash)] as const),
  fields?.deposit,
)}
${renderReturn(partTexts, true, fault, fields)}
<p class="quiet">${partTexts.consequence}</p>
<button>${partTexts.submit}</button>
</form>`
}</section>`;
}

function returnOf({
  returnedAt,
  returnedTo,
  returnHash,
  returnNote,
}: HistoricDeposit): Html | null {
  if (returnedAt === null) return null;
  const returned = partTexts.returned(
    returnedTo,
    html`<code>${returnHash}</code>`,
    dateTime(returnedAt),
  );
  return html`<br>
${returned}${returnNote !== null && html` ${returnNote}`}`;
}

function amountOf({ token_amount: units, assetDecimals, assetSymbol }: HistoricDeposit): string {
  return `${formatBaseUnits(BigInt(units), assetDecimals)} ${assetSymbol}`;
}
