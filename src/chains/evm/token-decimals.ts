import { type Node, RpcError } from '../../nodes/node.ts';
import { orThrow } from '../responses.ts';
import { asNodeError } from './log-query.ts';

/** Selector of `decimals()`. */
const DECIMALS = '0x313ce567';
/** What nodes say where the contract has no such function; any other error says nothing of the contract. */
const NOT_EXECUTED = /revert|execution|opcode|out of gas|jump|stack|\bVM\b/i;

/**
 * Decimals of a token, as its contract says; undefined where there is no contract, or none that tells.
 * @param contract 20 bytes in hex with 0x.
 * @throws NodeFailure, RpcError where the node does not say.
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
