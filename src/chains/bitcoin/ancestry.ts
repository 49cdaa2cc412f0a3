import { type Node, NodeFailure } from '../nodes/node.ts';
import { orThrow } from '../responses.ts';
import { readOrFailure } from '../unreadable.ts';
import { isNotFound, readTransaction } from './responses.ts';
import { toOutpoint } from './spending.ts';
import type { Transaction } from './transaction.ts';

/** Most ancestors that are read: Bitcoin Core 31 accepts chains of 64 unconfirmed transactions, older releases 25. */
const ANCESTORS_MAXIMUM = 64;

/** What the unconfirmed ancestors of a transaction spend. */
interface Ancestry {
  /** As `hash:index`. */
  readonly spent: readonly string[];
  /** Whether the node had all of them. */
  readonly complete: boolean;
}

/**
 * The outputs that the unconfirmed ancestors of a transaction spend. If another transaction spends one of them in
 * a block, this one becomes invalid as well. Most transactions have no unconfirmed parents, and need no call.
 * @param isUnconfirmed Whether a transaction is in the mempool, which an ancestor enters before its descendants.
 * @returns The result leaves out ancestors that cannot be read, or that the node does not have.
 * @throws NodeFailure, RpcError
 */
export async function readAncestry(
  node: Node,
  { inputs }: Pick<Transaction, 'inputs'>,
  isUnconfirmed: (id: string) => boolean,
): Promise<Ancestry> {
  let complete = true;
  const ancestors = new Set<string>();
  const ancestry = new Set<string>();
  const addParents = (outputs: readonly string[]) => {
    const parents = new Set(outputs.map(output => toOutpoint(output)[0]));
    const unread = [...parents].filter(id => !ancestors.has(id) && isUnconfirmed(id));
    const added = unread.slice(0, ANCESTORS_MAXIMUM - ancestors.size);
    for (const id of added) ancestors.add(id);
    return added;
  };
  let generation = addParents(inputs);
  while (generation.length > 0) {
    const calls = generation.map(id => ({ method: 'getrawtransaction', params: [id, false] }));
    const responses = await node.batch(calls);
    const spent = generation.flatMap((id, index) => {
      const response = responses[index];
      if (isNotFound(response)) {
        complete = false;
        return [];
      }
      const sent = orThrow(response);
      const transaction = readOrFailure(() => readTransaction(node, id, sent));
      return transaction instanceof NodeFailure ? [] : transaction.inputs;
    });
    for (const output of spent) ancestry.add(output);
    generation = addParents(spent);
  }
  return { spent: [...ancestry], complete };
}
