import { type Node, RpcError } from '../../nodes/node.ts';
import { isNotFound, orThrow, property, toCount, toHash, toList } from './answers.ts';

/** Inputs to ask about. One that is spent elsewhere is enough, and most transactions have one or two. */
const INPUTS_MAXIMUM = 50;

/** The node does not know a method (JSON-RPC 2.0), or the provider does not pass it on. */
const NO_METHOD = -32_601;

/**
 * The transaction of the mempool that spends one of these outputs.
 * @returns null if there is none, and from nodes that cannot tell (before Bitcoin Core 24).
 */
export async function findSpender(node: Node, inputs: readonly string[]): Promise<string | null> {
  if (inputs.length === 0) return null;
  const outputs = inputs.map(input => {
    const [txid, vout] = toOutpoint(input);
    return { txid, vout };
  });
  const [answer] = await node.batch([{ method: 'gettxspendingprevout', params: [outputs] }]);
  if (answer instanceof RpcError && answer.code === NO_METHOD) return null;
  for (const each of toList(node, orThrow(answer), 'the spenders')) {
    const spender = property(each, 'spendingtxid');
    if (spender !== undefined) return toHash(node, spender, 'a spender');
  }
  return null;
}

/** Whether any of these outputs is in a block and no block spends it. */
export async function isUnspent(node: Node, inputs: readonly string[]): Promise<boolean> {
  return (await askUnspent(node, inputs)).some(answer => answer !== null);
}

/**
 * Whether a block spends any of these outputs; on a node that finds transactions by their ID. An output
 * that is not among the unspent ones may also be of a transaction that is in no block itself.
 */
export async function wasSpentInChain(node: Node, inputs: readonly string[]): Promise<boolean> {
  const answers = await askUnspent(node, inputs);
  const gone = inputs.filter((_, index) => answers[index] === null);
  const parents = [...new Set(gone.map(input => toOutpoint(input)[0]))];
  const found = await node.batch(
    parents.map(id => ({ method: 'getrawtransaction', params: [id, true] })),
  );
  return found.some(answer => {
    if (isNotFound(answer)) return false;
    const confirmations = property(orThrow(answer), 'confirmations') ?? 0;
    return toCount(node, confirmations, 'the confirmations') > 0;
  });
}

/** For each output, null if it is not in a block or spent in one. */
function askUnspent(node: Node, inputs: readonly string[]): Promise<unknown[]> {
  const calls = inputs.slice(0, INPUTS_MAXIMUM).map(input => {
    const [id, index] = toOutpoint(input);
    return { method: 'gettxout', params: [id, index, false] };
  });
  return node.batch(calls).then(answers => answers.map(orThrow));
}

function toOutpoint(input: string): [string, number] {
  const [id = '', index] = input.split(':');
  return [id, Number(index)];
}
