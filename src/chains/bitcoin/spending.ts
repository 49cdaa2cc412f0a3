import { type Node, RpcError } from '../nodes/node.ts';
import { orThrow, toList } from '../responses.ts';
import { isNotFound, property, toCount, toHash } from './responses.ts';

/** How many inputs are checked: most transactions have one or two, and one that is spent elsewhere is enough. */
const INPUTS_MAXIMUM = 50;

/** The node does not know a method (JSON-RPC 2.0), or the provider does not pass it on. */
const NO_METHOD = -32_601;

/**
 * The transactions of the mempool that spend these outputs.
 * @returns None from nodes without this call (before Bitcoin Core 24).
 */
export async function findSpenders(
  node: Node,
  inputs: readonly string[],
): Promise<readonly string[]> {
  if (inputs.length === 0) return [];
  const outputs = inputs.map(input => {
    const [txid, vout] = toOutpoint(input);
    return { txid, vout };
  });
  const [response] = await node.batch([{ method: 'gettxspendingprevout', params: [outputs] }]);
  if (response instanceof RpcError && response.code === NO_METHOD) return [];
  return toList(node, orThrow(response), 'the spenders').flatMap(each => {
    const spender = property(each, 'spendingtxid');
    return spender === undefined ? [] : [toHash(node, spender, 'a spender')];
  });
}

/**
 * Whether each of these outputs is in a block and unspent by any block; only the first `INPUTS_MAXIMUM` are asked
 * about.
 */
export async function askUnspent(node: Node, inputs: readonly string[]): Promise<boolean[]> {
  const responses = await node.batch(
    inputs.slice(0, INPUTS_MAXIMUM).map(input => {
      const [id, index] = toOutpoint(input);
      return { method: 'gettxout', params: [id, index, false] };
    }),
  );
  return responses.map(response => orThrow(response) !== null);
}

/** The outputs whose own transaction is in a block. The node needs an index. */
export async function onlyConfirmed(
  node: Node,
  outputs: readonly string[],
): Promise<readonly string[]> {
  const parents = [...new Set(outputs.map(output => toOutpoint(output)[0]))];
  const responses = await node.batch(
    parents.map(id => ({ method: 'getrawtransaction', params: [id, true] })),
  );
  const confirmed = parents.filter((_, index) => {
    const response = responses[index];
    if (isNotFound(response)) return false;
    const depth = property(orThrow(response), 'confirmations') ?? 0;
    return toCount(node, depth, 'the confirmations') > 0;
  });
  return outputs.filter(output => confirmed.includes(toOutpoint(output)[0]));
}

/** Splits `id:index`: the transaction that creates an output, and the output's index in it. */
export function toOutpoint(input: string): [string, number] {
  const [id = '', index] = input.split(':');
  return [id, Number(index)];
}
