import type { ChainAdapter } from '#chains/adapter.ts';
import { CHAIN_IDS, type Chain, chainOf } from '#chains/chain-list.ts';
import { type Node, WrongIdentity } from '#chains/nodes/node.ts';

interface Expected {
  /** Identity of the chain's other nodes; null for the first one. */
  readonly identity: string | null;
  /** Refuses private chains. */
  readonly isProduction: boolean;
}

/**
 * Asks a node for its chain ID, or the hash of its first block.
 * @throws WrongIdentity unless it is one that the chain may have; NodeFailure, RpcError.
 */
export async function verifyIdentity(
  adapter: ChainAdapter,
  chain: Chain,
  node: Node,
  { identity, isProduction }: Expected,
): Promise<string> {
  const found = await adapter.identify(node);
  const allowed = chain.identities.filter(one => !isProduction || one.private !== true);
  if (!allowed.some(({ id }) => id === found)) {
    const names = allowed.map(({ id }) => describeIdentity(id)).join(', or ');
    throw new WrongIdentity(
      `it is a node of ${describeIdentity(found)}; ${chain.id} ${isProduction ? 'in production ' : ''}expects ${names}`,
    );
  }
  if (identity !== null && found !== identity) {
    const expected = describeIdentity(identity);
    const actual = describeIdentity(found);
    throw new WrongIdentity(
      `it is a node of ${actual}; the others of ${chain.id} are of ${expected}`,
    );
  }
  return found;
}

/** An identity with the name of its chain, for operators. */
export function describeIdentity(identity: string): string {
  const known = CHAIN_IDS.flatMap(id => chainOf(id).identities);
  const name = known.find(({ id }) => id === identity)?.name;
  return name === undefined ? identity : `${name} (${identity})`;
}
