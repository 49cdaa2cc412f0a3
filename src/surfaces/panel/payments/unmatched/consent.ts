import { type Html, html } from '../../../pages/html.ts';
import { renderField } from '../../kit/form.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import type { AssignFields, DepositParts } from './deposit-parts.ts';

/** What follows on an assignment that one person alone cannot make: the request, or its confirmation. */
export function renderConsent(words: PanelTexts, parts: DepositParts, wanted: AssignFields): Html {
  const { url, asked, personId } = parts;
  const { payment } = wanted;
  const isAsked = asked?.payment.id === payment && asked.personId !== personId;
  if (isAsked) return renderTyped(words, parts, wanted);
  return html`<form method="post" action="${url}/ask"><input type="hidden" name="payment" value="${payment}">
<button>${words.unmatched.consent.ask}</button></form>`;
}

/** A form in which a second person confirms that too little or too much settles a payment. */
export function renderTyped(
  { unmatched: { consent } }: PanelTexts,
  { url }: DepositParts,
  { payment, arrived, due }: Omit<AssignFields, 'sure'>,
): Html {
  const field = { hint: consent.amountHint, autocomplete: 'off' };
  return html`<form method="post" action="${url}/assign" class="stack"><input type="hidden" name="payment" value="${payment}">
${renderField({ ...field, name: 'arrived', label: consent.arrived, value: arrived })}
${renderField({ ...field, name: 'due', label: consent.due, value: due })}
<button>${consent.submit}</button></form>`;
}
