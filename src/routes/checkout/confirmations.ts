import type { Confirmations } from '../../checkout/progress.ts';
import { type Html, html } from '../pages/html.ts';

/** Renders how far a transfer is from being final. */
export function renderConfirmations(confirmations: Confirmations): Html {
  const { blocks, required } = confirmations;
  const text = describeConfirmations(confirmations);
  if (required === 'final' || blocks === 0) return html`<p class="confirmations">${text}</p>`;
  return html`<p class="confirmations"><progress value="${blocks}" max="${required}" aria-hidden="true"></progress> ${text}</p>`;
}

/** The same in a sentence. */
export function describeConfirmations({ blocks, required, usualMs }: Confirmations): string {
  if (blocks === 0) return 'Seen, waiting for a block.';
  if (required !== 'final')
    return `${blocks} of ${required} ${required === 1 ? 'block' : 'blocks'}.`;
  return `In a block, waiting for the network’s finality, usually about ${roundedTime(usualMs)}.`;
}

/** A time as people say it: in seconds below a minute, else in minutes. */
function roundedTime(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes === 1 ? 'a minute' : `${minutes} minutes`;
}
