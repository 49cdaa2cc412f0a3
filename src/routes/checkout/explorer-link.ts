import { explorerPage } from '../../accounts/explorer-url.ts';
import type { Checkout } from '../../checkout/checkout.ts';
import { type Html, html } from '../pages/html.ts';

/** A link to the transaction in the operator's block explorer; null if the network has none. */
export function renderExplorerLink(
  { network }: Pick<Checkout, 'network'>,
  transactionHash: string,
): Html | null {
  if (network === null || network.explorer === null) return null;
  const url = explorerPage(network.explorer, transactionHash);
  const { host } = new URL(url);
  return html`<a class="explorer" href="${url}" target="_blank" rel="noreferrer noopener">See it on ${host}<span class="visually-hidden"> (opens a new tab)</span></a>`;
}
