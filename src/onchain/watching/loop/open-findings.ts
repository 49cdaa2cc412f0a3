import type { WatchedAddress } from '#chains/transfer.ts';
import type { Finding } from '#storage/database/watching-tables.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { listSettledNetworks } from '#storage/repositories/chains/networks.ts';
import type { Watcher } from '../watcher.ts';
import { RETRY_EVERY_MS } from './retry-unapplied.ts';

const CONSIDERED_MAXIMUM = 1_000;

/** At most `maximum` of the chain's open findings of a kind; each minute it returns the next ones in turn. */
export async function listInTurn(
  { chain, clock, db }: Watcher,
  kind: string,
  maximum: number,
): Promise<Finding[]> {
  const open = await listOpenFindings(db, CONSIDERED_MAXIMUM, { chain: chain.id, kind });
  const turn = Math.floor(clock() / RETRY_EVERY_MS) * maximum;
  const start = open.length > maximum ? turn % open.length : 0;
  return [...open.slice(start), ...open.slice(0, start)].slice(0, maximum);
}

/** The addresses that a finding concerns: its own or, if it names none, all watched ones. */
export async function listConcerned(
  { chain, clock, db, watchList }: Watcher,
  { blockchain_id: id, address }: Finding,
): Promise<readonly WatchedAddress[]> {
  if (id === null || address === null) return watchList.read(db, new Date(clock()));
  const network = (await listSettledNetworks(db, chain.id)).find(each => each.id === id);
  return network === undefined ? [] : [{ network: { id, contract: network.contract }, address }];
}
