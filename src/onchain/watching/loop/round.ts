import type { Heads } from '#chains/adapter.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { ChainState } from '#storage/database/watching-tables.ts';

/** Context of one tick: the state of the chain at its beginning, and the one node that it asks. */
export interface Round {
  readonly state: ChainState;
  readonly node: Node;
  readonly heads: Heads;
  /** Whether the mempool was listed with the heads (Bitcoin). */
  readonly isListed: boolean;
  /** When the node was asked for its newest block. */
  readonly polledAt: Date;
  readonly signal: AbortSignal;
}
