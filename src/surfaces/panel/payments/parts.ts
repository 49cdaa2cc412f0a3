import { type Static, Type } from '@sinclair/typebox';
import { Uuid } from '#schemas/scalars.ts';
import type { HistoricDeposit } from '#storage/repositories/payments/history.ts';
import { type Html, html } from '../../pages/html.ts';
import { type FormFault, renderSelect } from '../kit/form.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { amountOf } from './transfers.ts';
import { ReturnForm, renderReturn } from './unmatched/remedy.ts';

/** Records that a part was given back. */
export const PartForm = Type.Object({
  deposit: Uuid('ID of the deposit.'),
  ...ReturnForm.properties,
});

/**
 * The form to record the return of a part of a payment that ended without the rest; null if no part is left to
 * return.
 */
export function renderPartForm(
  { payments: { parts: texts } }: PanelTexts,
  url: string,
  deposits: readonly HistoricDeposit[],
  fields: Static<typeof PartForm> | undefined,
  fault: FormFault | null,
): Html | null {
  const kept = deposits.filter(
    ({ booked_at: bookedAt, returned_at: returnedAt }) => bookedAt !== null && returnedAt === null,
  );
  if (kept.length === 0) return null;
  const choices = kept.map(
    part => [part.id, texts.choice(amountOf(part), part.transaction_hash)] as const,
  );
  return html`<section aria-labelledby="parts"><h2 id="parts">${texts.title}</h2>
<form method="post" action="${url}/return" class="stack">
${renderSelect('deposit', texts.part, choices, fields?.deposit)}
${renderReturn(texts, true, fault, fields)}
<p class="quiet">${texts.consequence}</p>
<button>${texts.submit}</button>
</form></section>`;
}
