import { type Node, RpcError } from '../../nodes/node.ts';
import { orThrow } from '../answers.ts';

/** Selector of `decimals()`. */
const DECIMALS = '0x313ce567';

/**
 * Decimals of a token, as its contract says; undefined where there is no contract, or none that tells.
 * @param contract 20 bytes in hex with 0x.
 */
export async function readTokenDecimals(node: Node, contract: string): Promise<number | undefined> {
  const [code, decimals] = await node.batch([
    { method: 'eth_getCode', params: [contract, 'latest'] },
    { method: 'eth_call', params: [{ to: contract, data: DECIMALS }, 'latest'] },
  ]);
  if (orThrow(code) === '0x' || decimals instanceof RpcError) return undefined;
  const isWord = typeof decimals === 'string' && /^0x[0-9a-f]{64}$/i.test(decimals);
  const value = isWord ? BigInt(decimals) : 256n;
  return value <= 255n ? Number(value) : undefined;
}
