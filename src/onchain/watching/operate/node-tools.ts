import type { ChainAdapter } from '#chains/adapter.ts';
import { adapterOf } from '#chains/adapters.ts';
import { CHAIN_IDS, type Chain, chainOf, isChainId } from '#chains/chain-list.ts';
import type { Keyring } from '#crypto/keyring.ts';
import { CommandRefused } from './command-refused.ts';

/** Dependencies of verifying and storing nodes. */
export interface NodeTools {
  readonly keyring: Keyring;
  /** Refuses private chains. */
  readonly isProduction: boolean;
  /** Default: `adapterOf`. */
  readonly adapterOf?: (chain: Chain) => ChainAdapter;
}

/** @throws CommandRefused for text that is no chain's ID. */
export function requireChain(id: string): Chain {
  if (isChainId(id)) return chainOf(id);
  throw new CommandRefused(`There is no chain ${id}. The chains are ${CHAIN_IDS.join(', ')}.`);
}

/** The adapter of a chain, or that of a test. */
export function adapterFor({ adapterOf: find = adapterOf }: NodeTools, chain: Chain): ChainAdapter {
  return find(chain);
}
