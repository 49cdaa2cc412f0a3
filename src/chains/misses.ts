import { LaggingNode, type Node, RpcError } from './nodes/node.ts';

/** How many looks find a thing missing before the chain goes on without it: a server that lags has it in seconds. */
export const LOOKS = 3;
/** The same where the node has none of several things: then it lags itself, and another one may have them. */
const LOOKS_FOR_SEVERAL = 10;
/** Things that are remembered; few are missing at a time. */
const KEPT_MAXIMUM = 10_000;

/**
 * Counts how often something was missing that a node has listed: a receipt, a transaction or a block. It comes in a
 * later look, or else must not keep the others from being recorded.
 */
export class Misses {
  readonly #counts = new Map<string, number>();

  /**
   * To be called once a look, with all things that it has found missing.
   * @param areOthersThere Whether the node has others that it was asked for together with these.
   * @returns Those that are worth another look; the others are to be reported as unreadable.
   */
  count<T>(
    missing: readonly T[],
    keyOf: (each: T) => string,
    areOthersThere: boolean,
  ): readonly T[] {
    const looks = areOthersThere || missing.length === 1 ? LOOKS : LOOKS_FOR_SEVERAL;
    const again = missing.filter(each => {
      const key = keyOf(each);
      const count = (this.#counts.get(key) ?? 0) + 1;
      this.#counts.delete(key);
      this.#counts.set(key, count);
      return count < looks;
    });
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size <= KEPT_MAXIMUM) break;
      this.#counts.delete(oldest);
    }
    return again;
  }
}

/** The failure that stands for one thing that a node refuses among others. */
export function refusedAlone(node: Node, { message }: RpcError): LaggingNode {
  return new LaggingNode(`${node.label}: ${message}`);
}

/**
 * Results of a batch that asks for one thing with each call.
 * @throws RpcError where the node refuses each of several.
 */
export function eachAlone(node: Node, responses: readonly unknown[]): (unknown | LaggingNode)[] {
  const [first] = responses;
  const isNone = responses.length > 1 && responses.every(each => each instanceof RpcError);
  if (first instanceof RpcError && isNone) throw first;
  return responses.map(each => (each instanceof RpcError ? refusedAlone(node, each) : each));
}
