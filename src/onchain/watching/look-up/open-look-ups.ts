import { adapterOf } from '#chains/adapters.ts';
import { chainOf, isChainId } from '#chains/chain-list.ts';
import type { NodeSetOptions } from '#chains/nodes/node-set.ts';
import { openChainNodes } from '../open-chain-nodes.ts';
import {
  createLookUps,
  LOOK_UP_CALLS_PER_SECOND,
  type LookUpChain,
  type LookUps,
} from './look-ups.ts';

interface OpenLookUpsOptions extends Pick<NodeSetOptions, 'db' | 'keyring' | 'clock' | 'logger'> {
  /** Refuses nodes of private chains. */
  readonly isProduction: boolean;
}

/** Look-ups on the chains' configured nodes, which are opened at the first question. */
export function openLookUps(options: OpenLookUpsOptions): LookUps {
  const { db, clock, logger } = options;
  return createLookUps({ db, clock, logger, open });

  function open(id: string): LookUpChain | null {
    if (!isChainId(id)) return null;
    const chain = chainOf(id);
    const adapter = adapterOf(chain);
    const requestsPerSecond = LOOK_UP_CALLS_PER_SECOND;
    return { adapter, nodes: openChainNodes(chain, adapter, { ...options, requestsPerSecond }) };
  }
}
