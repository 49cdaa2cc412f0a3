import { type Node, RpcError } from '../nodes/node.ts';
import { orThrow } from '../responses.ts';
import { asNodeError } from './log-query.ts';

/** Selector of `decimals()`. */
const DECIMALS = '0x313ce567';
/** Errors of nodes for a contract without such a function; any other error says nothing about the contract. */
const NOT_EXECUTED = /revert|execution|opcode|out of gas|jump|stack|\bVM\b/i;

/**
 * Decimals of a token, from its contract; undefined if there is no contract, or it has no such function.
 * @param contract 20 bytes in hex with 0x.
 * @throws NodeFailure, RpcError for any other error of the node.
 */
export async function readTokenDecimals(node: Node, contract: string): Promise<number | undefined> {
  const [code, decimals] = await node.batch([
    { method: 'eth_getCode', params: [contract, 'latest'] },
    { method: 'eth_call', params: [{ to: contract, data: DECIMALS }, 'latest'] },
  ]);
  if (orThrow(code) === '0x') return undefined;
  if (decimals instanceof RpcError) {
    if (NOT_EXECUTED.test(decimals.message)) return undefined;
    throw asNodeError(node, decimals);
  }
  const isWord = typeof decimals === 'string' && /^0x[0-9a-f]{64}$/i.test(decimals);
  const value = isWord ? BigInt(decimals) : 256n;
  return value <= 255n ? Number(value) : undefined;
}
