import type { Heads } from '../../chains/adapter.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import type { Node } from '../../nodes/node.ts';

/** How far the chain has come, as the node of this tick shows it. */
export interface Tips {
  readonly tip: number;
  /** null where the chain has no finality of its own. */
  readonly final: number | null;
}

/** What every step of one tick works with: the chain as it began, and the one node that it asks. */
export interface Round {
  readonly state: ChainState;
  readonly node: Node;
  readonly heads: Heads;
  readonly tips: Tips;
  /** Whether the mempool was listed with the heads (Bitcoin). */
  readonly isListed: boolean;
  /** When the node was asked for its newest block. */
  readonly polledAt: Date;
  readonly signal: AbortSignal;
}
