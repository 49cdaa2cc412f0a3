import { type Html, html } from '../../pages/html.ts';
import type { Confirmations } from '../progress.ts';
import type { Locale } from './locale.ts';

/** Renders how far a transfer is from being final. */
export function renderConfirmations(confirmations: Confirmations, locale: Locale): Html {
  const { blocks, required } = confirmations;
  const text = describeConfirmations(confirmations, locale);
  if (required === 'final' || blocks === 0) return html`<p class="confirmations">${text}</p>`;
  return html`<p class="confirmations"><progress value="${blocks}" max="${required}" aria-hidden="true"></progress> ${text}</p>`;
}

/** How far a transfer is from being final, as a sentence. */
export function describeConfirmations(
  { blocks, required, usualMs }: Confirmations,
  { texts, format }: Locale,
): string {
  if (blocks === 0) return texts.confirmations.unmined;
  if (required === 'final') return texts.confirmations.finality(format.duration(usualMs));
  return texts.confirmations.blocks(format.number(blocks), format.number(required));
}
