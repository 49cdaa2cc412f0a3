import { OperationRefused } from '../../audit/audited-change.ts';
import type { ChainAdapter } from '../../chains/adapter.ts';
import { adapterOf } from '../../chains/adapters.ts';
import { CHAIN_IDS, type Chain, chainOf, isChainId } from '../../chains/chain-list.ts';
import type { Keyring } from '../../crypto/keyring.ts';
import type { NodeRow } from '../../database/watching-tables.ts';
import { openAccess } from '../../nodes/node-access.ts';
import type { NodeSettings } from '../../nodes/open-node.ts';

/** What nodes are verified and kept with. */
export interface NodeTools {
  readonly keyring: Keyring;
  /** Refuses private chains. */
  readonly isProduction: boolean;
  /** `adapterOf` unless given. */
  readonly adapterOf?: (chain: Chain) => ChainAdapter;
}

/** @throws OperationRefused for text that is no chain's ID. */
export function requireChain(id: string): Chain {
  if (isChainId(id)) return chainOf(id);
  throw new OperationRefused(`There is no chain ${id}. The chains are ${CHAIN_IDS.join(', ')}.`);
}

/** The adapter of a chain, or what a test reads it by. */
export function adapterFor({ adapterOf: find = adapterOf }: NodeTools, chain: Chain): ChainAdapter {
  return find(chain);
}

/** What a stored node is asked with. */
export function settingsOf(keyring: Keyring, row: NodeRow): NodeSettings {
  const { id, chain, label, role, abilities } = row;
  const requestsPerSecond = row.requests_per_second;
  return { id, chain, label, role, abilities, requestsPerSecond, access: openAccess(keyring, row) };
}
