import { type NodeCall, ResponseTooLarge, RpcError } from './node.ts';
import { limitsOf } from './response-limits.ts';
import { BatchRefused } from './responses.ts';

/** Accepted batches in a row before the size grows by one call: growing slowly keeps oversized batches rare. */
const ACCEPTED_UNTIL_GROWN = 20;

/** How many calls of a kind a batch has, and how many such batches in a row were accepted. */
interface Size {
  readonly calls: number;
  readonly accepted: number;
}

/** Divides calls into batches of a size that the node accepts. */
export function createBatches(maximum: number) {
  let limit: number | null = null;
  /** By kind of call; only kinds of which a response was too large. */
  const sizes = new Map<string, Size>();

  function noteAccepted(kind: string | null, length: number): void {
    const size = kind === null ? undefined : sizes.get(kind);
    if (kind === null || size === undefined || length < size.calls) return;
    const accepted = size.accepted + 1;
    const isGrown = accepted === ACCEPTED_UNTIL_GROWN;
    sizes.set(kind, isGrown ? { calls: length + 1, accepted: 0 } : { calls: length, accepted });
  }

  return {
    /**
     * Sends calls one batch after the other. If the node refuses a batch, all later ones are smaller. If a
     * response is too large, only batches of the same kind of calls become smaller, and slowly grow again.
     * @param send Sends one batch; throws BatchRefused, ResponseTooLarge, or RpcError for a single call.
     * @returns Results in the order of the calls; an RpcError for one that was refused.
     */
    async send(
      calls: readonly NodeCall[],
      send: (part: readonly NodeCall[]) => Promise<unknown[]>,
    ): Promise<(unknown | RpcError)[]> {
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
          noteAccepted(kind, part.length);
        } catch (error) {
          if (error instanceof ResponseTooLarge && half > 0) {
            if (kind === null) mixed = half;
            else sizes.set(kind, { calls: half, accepted: 0 });
          } else if (error instanceof RpcError) results.push(error);
          else if (error instanceof BatchRefused) limit = half;
          else {
            // If single calls fail too, the size of the batch was not the reason.
            limit = before;
            throw error;
          }
        }
      }
      return results;
    },
    /** Maximum calls of a batch if the node has refused a larger one; null if it has refused none. */
    limit: () => limit,
  };
}

/**
 * The kind of calls whose responses are about equally long; a header and a whole block are two kinds. null for
 * mixed calls, where the response of any call may be the one that is too large.
 */
function kindOf(calls: readonly NodeCall[]): string | null {
  const kinds = new Set(
    calls.map(({ method, params }) => `${method} ${limitsOf(method, params).bytes}`),
  );
  const [kind = null] = kinds;
  return kinds.size === 1 ? kind : null;
}
