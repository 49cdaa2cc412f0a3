import { type Html, html } from '../pages/html.ts';
import type { CheckoutView } from './view.ts';

/** Whom the payer may turn to about the payment; null if the merchant names nobody. */
export function renderContact({ checkout: { shop, payment } }: CheckoutView): Html | null {
  const { supportContact: contact } = shop;
  if (contact === null) return null;
  if (contact.startsWith('https://')) {
    return html`<a class="contact" href="${contact}" target="_blank" rel="noreferrer noopener">${new URL(contact).host}</a>`;
  }
  const subject = encodeURIComponent(payment.id);
  return html`<a class="contact" href="mailto:${encodeURI(contact)}?subject=${subject}">${contact}</a>`;
}
