import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import type { Choices } from './form.ts';

/** What pages say of networks, by their IDs, in the order of the documentation. */
export type NamedNetworks = ReadonlyMap<
  string,
  Pick<Network, 'name' | 'asset_symbol' | 'asset_decimals'>
>;

/** Reads what pages say of networks, once for a process: only migrations change it. */
export function rememberNetworks(db: Connection): () => Promise<NamedNetworks> {
  let remembered: NamedNetworks | undefined;
  return async () => {
    remembered ??= new Map((await listNetworks(db)).map(network => [network.id, network]));
    return remembered;
  };
}

/** The asset and the network, since several have one name; the ID of one that is not known. */
export function nameNetwork({ changes }: PanelTexts, networks: NamedNetworks, id: string): string {
  const network = networks.get(id);
  return network === undefined ? id : changes.network(network.name, network.asset_symbol);
}

/** An amount of an asset's smallest unit, as a decimal with the asset. */
export function assetAmount(units: string | bigint, decimals: number, symbol: string): string {
  return `${formatBaseUnits(BigInt(units), decimals)} ${symbol}`;
}

/** The same by the ID of the network; as it is on a network that is not known. */
export function nameAmount(networks: NamedNetworks, id: string, units: string | bigint): string {
  const network = networks.get(id);
  if (network === undefined) return String(units);
  return assetAmount(units, network.asset_decimals, network.asset_symbol);
}

/** All networks, to choose one from. */
export function networkChoices(words: PanelTexts, networks: NamedNetworks): Choices {
  return [...networks.keys()].map(id => [id, nameNetwork(words, networks, id)]);
}
