import { type Node, NodeFailure, RpcError } from '../nodes/node.ts';
import { orThrow } from '../responses.ts';
import { toBlock, toCount, toParameter } from './responses.ts';

/**
 * The newest block, the final height and the hash at the cursor, in one request.
 * @returns `finalHeight` is null if the node does not know the tag `finalized`: then nothing is final by it.
 */
export async function readHeads(node: Node, cursorHeight: number | null) {
  const header = (tag: string) => ({ method: 'eth_getBlockByNumber', params: [tag, false] });
  const [latest, finalized, cursor] = await node.batch([
    header('latest'),
    header('finalized'),
    ...(cursorHeight === null ? [] : [header(toParameter(cursorHeight))]),
  ]);
  const tip = toBlock(node, orThrow(latest), null);
  if (tip === null) throw new NodeFailure(`${node.label} has no newest block`);
  const final = finalized instanceof RpcError ? null : toBlock(node, finalized, null);
  const atCursor =
    cursorHeight === null || cursor instanceof RpcError
      ? null
      : toBlock(node, cursor, cursorHeight);
  return { tip, finalHeight: final?.height ?? null, cursorHash: atCursor?.hash ?? null };
}

/** Height of the newest block. */
export async function readHeight(node: Node): Promise<number> {
  return toCount(node, await node.call('eth_blockNumber', []), 'the height of the newest block');
}
