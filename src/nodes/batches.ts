import { type NodeCall, ResponseTooLarge, RpcError } from './node.ts';
import { limitsOf } from './response-limits.ts';
import { BatchRefused } from './responses.ts';

/** Divides calls into batches that a node takes. */
export interface Batches {
  /**
   * Sends calls one batch after the other: smaller ones from then on where the node refuses one, and where an
   * answer is too large smaller ones of such calls, which slowly grow again.
   * @param send Sends one batch; throws BatchRefused, ResponseTooLarge, or RpcError for a single call.
   * @returns Results in the order of the calls; an RpcError for one that was refused.
   */
  send(
    calls: readonly NodeCall[],
    send: (part: readonly NodeCall[]) => Promise<unknown[]>,
  ): Promise<(unknown | RpcError)[]>;
  /** Most calls of a batch, if the node has refused one of more; null if it has refused none. */
  limit(): number | null;
}

/** Batches that are answered until the next one has one call more: few are then too large once more. */
const ANSWERED_UNTIL_GROWN = 20;

/** How many calls of a kind a batch has, and how many such batches were answered. */
interface Size {
  readonly calls: number;
  readonly answered: number;
}

export function createBatches(maximum: number): Batches {
  let limit: number | null = null;
  /** By what was asked; only where a response was too large. */
  const sizes = new Map<string, Size>();

  function noteAnswered(kind: string | null, length: number): void {
    const size = kind === null ? undefined : sizes.get(kind);
    if (kind === null || size === undefined || length < size.calls) return;
    const answered = size.answered + 1;
    const isGrown = answered === ANSWERED_UNTIL_GROWN;
    sizes.set(kind, isGrown ? { calls: length + 1, answered: 0 } : { calls: length, answered });
  }

  return {
    async send(calls, send) {
      const before = limit;
      const kind = kindOf(calls);
      let mixed = maximum;
      const results: (unknown | RpcError)[] = [];
      while (results.length < calls.length) {
        const size = kind === null ? mixed : (sizes.get(kind)?.calls ?? maximum);
        const length = Math.min(size, limit ?? maximum, maximum);
        const part = calls.slice(results.length, results.length + length);
        const half = Math.floor(part.length / 2);
        try {
          results.push(...(await send(part)));
          noteAnswered(kind, part.length);
        } catch (error) {
          if (error instanceof ResponseTooLarge && half > 0) {
            if (kind === null) mixed = half;
            else sizes.set(kind, { calls: half, answered: 0 });
          } else if (error instanceof RpcError) results.push(error);
          else if (error instanceof BatchRefused) limit = half;
          else {
            // Where the node does not answer single calls either, it was not the batch that it refused.
            limit = before;
            throw error;
          }
        }
      }
      return results;
    },
    limit: () => limit,
  };
}

/**
 * Calls whose responses are about as long: a block with its transactions is no header. null where they differ, so
 * that one of them may be the one that is too long.
 */
function kindOf(calls: readonly NodeCall[]): string | null {
  const kinds = new Set(
    calls.map(({ method, params }) => `${method} ${limitsOf(method, params).bytes}`),
  );
  const [kind = null] = kinds;
  return kinds.size === 1 ? kind : null;
}
