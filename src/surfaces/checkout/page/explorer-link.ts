import { explorerPage } from '#accounts/explorer-url.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Locale } from './locale.ts';
import type { CheckoutView } from './view.ts';

/** How many characters at the start and the end of a transaction's hash are shown. */
const START = 10;
const END = 8;

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

/** A shortened transaction hash, linked to the operator's block explorer if the network has one. */
export function renderShortHash(
  { texts: { outcome, opensNewTab } }: Locale,
  transactionHash: string,
  explorer: string | null,
): Html {
  const isShort = transactionHash.length <= START + END;
  const shown = isShort
    ? transactionHash
    : `${transactionHash.slice(0, START)}…${transactionHash.slice(-END)}`;
  const code = html`<code dir="ltr">${shown}</code>`;
  if (explorer === null) return code;
  const url = explorerPage(explorer, transactionHash);
  const where = `${outcome.explorer(new URL(url).host)}, ${opensNewTab}`;
  return html`<a class="short" href="${url}" target="_blank" rel="noreferrer noopener">${code}<span class="visually-hidden"> (${where})</span></a>`;
}
