import type { Network } from '#storage/database/network-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

type Named = Pick<Network, 'id' | 'name' | 'asset_symbol'>;

/** Several networks have the same name; what is paid on them differs. */
export function networkName({ changes }: PanelTexts, network: Omit<Named, 'id'>): string {
  return changes.network(network.name, network.asset_symbol);
}

/** The name, with the ID by which the API knows the network. */
export function renderNetwork(words: PanelTexts, network: Named): Html {
  return html`${networkName(words, network)} (<code>${network.id}</code>)`;
}
