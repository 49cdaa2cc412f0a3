import { type Node, RpcError } from '../../nodes/node.ts';
import { orThrow, toList } from '../responses.ts';
import { isNotFound, readTransaction, toHash } from './responses.ts';

/** Most ancestors that are read: Bitcoin Core 31 accepts 64 unconfirmed transactions that depend on one another, 25 before. */
const ANCESTORS_MAXIMUM = 64;

/**
 * The outputs that the unconfirmed ancestors of a transaction spend, as `hash:index`. If somebody else spends one of them in
 * a block, the transaction is gone as well.
 * @returns None once it has left the mempool, and from nodes without this call.
 * @throws NodeFailure
 */
export async function readAncestry(node: Node, id: string): Promise<readonly string[]> {
  const [response] = await node.batch([{ method: 'getmempoolancestors', params: [id] }]);
  if (response instanceof RpcError) return [];
  const ids = toList(node, response, 'the ancestors of a transaction')
    .map(each => toHash(node, each, 'an ancestor'))
    .slice(0, ANCESTORS_MAXIMUM);
  const responses = await node.batch(
    ids.map(each => ({ method: 'getrawtransaction', params: [each, false] })),
  );
  return ids.flatMap((each, index) => {
    const sent = responses[index];
    // It has got into a block, or left the mempool, since.
    return isNotFound(sent) ? [] : readTransaction(node, each, orThrow(sent)).inputs;
  });
}
