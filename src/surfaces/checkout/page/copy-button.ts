import { type Html, html } from '../../pages/html.ts';
import type { Locale } from './locale.ts';

/**
 * A copy button. It needs the script, so it is hidden until the script shows it.
 * @param id Distinguishes the buttons of several transactions.
 */
export function copyButton(
  { texts: { waiting } }: Locale,
  value: string,
  what: 'amount' | 'address' | 'transaction',
  id: string = what,
): Html {
  const label = {
    amount: waiting.copyAmount,
    address: waiting.copyAddress,
    transaction: waiting.copyTransaction,
  }[what];
  return html`<button class="copy" type="button" id="copy-${id}" data-copy="${value}" aria-label="${label}" hidden>${waiting.copy}</button>`;
}
