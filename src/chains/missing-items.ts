import { LaggingNode, type Node, RpcError } from './nodes/node.ts';

/** After how many looks a missing item is given up: a server that lags has it in seconds. */
export const LOOKS = 3;
/** The same if the node has none of several items: then the node itself lags, and another one may have them. */
const LOOKS_FOR_SEVERAL = 10;
/** Maximum number of items that are remembered; few are missing at a time. */
const KEPT_MAXIMUM = 10_000;

/**
 * Counts how often an item that a node has listed (a receipt, a transaction or a block) was missing. If later looks do
 * not find it either, it is given up, so that the others can be recorded.
 */
export class MissingItems {
  readonly #counts = new Map<string, number>();

  /**
   * To be called once per look, with all missing items.
   * @param areOthersThere Whether the node returned other items that were requested together with these.
   * @returns Items that are worth another look; the others are to be reported as unreadable.
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

/** The failure of a single item that a node refuses. */
export function refusedAlone(node: Node, { message }: RpcError): LaggingNode {
  return new LaggingNode(`${node.label}: ${message}`);
}

/**
 * Results of a batch with one item per call. A refused item becomes a LaggingNode.
 * @throws RpcError if there are several and the node refuses all of them.
 */
export function eachAlone(node: Node, responses: readonly unknown[]): (unknown | LaggingNode)[] {
  const [first] = responses;
  const isNone = responses.length > 1 && responses.every(each => each instanceof RpcError);
  if (first instanceof RpcError && isNone) throw first;
  return responses.map(each => (each instanceof RpcError ? refusedAlone(node, each) : each));
}
