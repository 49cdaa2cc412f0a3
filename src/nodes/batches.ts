import { BatchRefused } from './answers.ts';
import { AnswerTooLarge, type NodeCall, RpcError } from './node.ts';

/** Divides calls into batches that a node takes. */
export interface Batches {
  /**
   * Sends calls one batch after the other: smaller ones from then on where the node refuses one, and for the
   * rest of these calls where an answer is too large.
   * @param send Sends one batch; throws BatchRefused, AnswerTooLarge, or RpcError for a single call.
   * @returns Results in the order of the calls; an RpcError for one that was refused.
   */
  send(
    calls: readonly NodeCall[],
    send: (part: readonly NodeCall[]) => Promise<unknown[]>,
  ): Promise<(unknown | RpcError)[]>;
  /** Most calls of a batch, if the node has refused one of more; null if it has refused none. */
  limit(): number | null;
}

export function createBatches(maximum: number): Batches {
  let limit: number | null = null;
  return {
    async send(calls, send) {
      const results: (unknown | RpcError)[] = [];
      let size = maximum;
      while (results.length < calls.length) {
        const length = Math.min(size, limit ?? maximum);
        const part = calls.slice(results.length, results.length + length);
        const half = Math.floor(part.length / 2);
        try {
          results.push(...(await send(part)));
        } catch (error) {
          if (error instanceof AnswerTooLarge && half > 0) size = half;
          else if (error instanceof RpcError) results.push(error);
          else if (error instanceof BatchRefused) limit = half;
          else throw error;
        }
      }
      return results;
    },
    limit: () => limit,
  };
}
