import { type Html, html } from '../../../pages/html.ts';
import { renderField } from '../../kit/form.ts';
import { dollars } from '../../kit/format.ts';
import { texts } from '../../texts/index.ts';
import type { AssignFields, DepositParts, Wanted } from './deposit-parts.ts';

const { consent } = texts.unmatched;

/** The form to consent to an assignment that was refused without consent. */
export function renderConsent(parts: DepositParts, { payment, refusal, fields }: Wanted): Html {
  const { url, asked, personId } = parts;
  const { id: paymentId, amount, customer_reference_id: reference } = payment;
  const order = [dollars(amount), reference].filter(Boolean).join(', ');
  const isAsked = asked?.payment.id === paymentId && asked.personId !== personId;
  if (refusal.to === 'otherOrder') {
    return html`<form method="post" action="${url}/assign">${hidden({ ...fields, payment: paymentId, sure: 'yes' })}
<button class="danger">${consent.otherOrder(order)}</button></form>`;
  }
  if (isAsked) return renderTyped(parts, paymentId, fields);
  return html`<form method="post" action="${url}/ask">${hidden({ payment: paymentId })}
<button>${consent.ask}</button></form>`;
}

/** A form in which a second person confirms that too little settles a payment. */
export function renderTyped(
  { url }: DepositParts,
  paymentId: string,
  { sure, arrived, due }: AssignFields = { sure: '', arrived: '', due: '' },
): Html {
  return html`<form method="post" action="${url}/assign" class="stack">${hidden({ payment: paymentId, sure })}
${renderField({ name: 'arrived', label: consent.arrived, hint: consent.amountHint, value: arrived, autocomplete: 'off' })}
${renderField({ name: 'due', label: consent.due, hint: consent.amountHint, value: due, autocomplete: 'off' })}
<button class="danger">${consent.submit}</button></form>`;
}

function hidden(fields: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}`;
}
