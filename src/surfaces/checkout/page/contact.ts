import { type Html, html } from '../../pages/html.ts';
import type { CheckoutView } from './view.ts';

/** The merchant's contact for payers; null if there is none. */
export function renderContact({ checkout: { shop, payment }, locale }: CheckoutView): Html | null {
  const { supportContact: contact } = shop;
  if (contact === null) return null;
  if (contact.startsWith('https://')) {
    return html`<a class="contact" href="${contact}" target="_blank" rel="noreferrer noopener">${contact.replace('https://', '').replace(/\/$/, '')}<span class="visually-hidden"> (${locale.texts.opensNewTab})</span></a>`;
  }
  // An address may contain characters that begin another part of a URL, such as `?`.
  const address = contact.split('@').map(encodeURIComponent).join('@');
  const subject = encodeURIComponent(payment.id);
  return html`<a class="contact" href="mailto:${address}?subject=${subject}">${contact}</a>`;
}
