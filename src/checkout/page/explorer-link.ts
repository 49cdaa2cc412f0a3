import { explorerPage } from '../../accounts/explorer-url.ts';
import { type Html, html } from '../../pages/html.ts';
import type { CheckoutView } from './view.ts';

/** A link to the transaction in the operator's block explorer; null if the network has none. */
export function renderExplorerLink(
  { checkout: { network }, locale }: CheckoutView,
  transactionHash: string,
): Html | null {
  if (network === null || network.explorer === null) return null;
  const url = explorerPage(network.explorer, transactionHash);
  const { outcome, opensNewTab } = locale.texts;
  return html`<a class="explorer" href="${url}" target="_blank" rel="noreferrer noopener">${outcome.explorer(new URL(url).host)}<span class="visually-hidden"> (${opensNewTab})</span></a>`;
}
