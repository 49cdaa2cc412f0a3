import { type Node, RpcError } from './node.ts';

/** A call and its result. */
interface RecordedResponse {
  readonly method: string;
  readonly params: unknown;
  readonly result: unknown;
}

/** A node whose responses are kept. */
export interface RecordedNode {
  readonly node: Node;
  /** Responses to calls whose parameters contain one of these texts, such as hashes, in the order of the calls. */
  responsesTo(...texts: readonly string[]): RecordedResponse[];
}

/** Keeps the responses of a node from now on, except for errors. */
export function recordResponses(node: Node): RecordedNode {
  const responses: RecordedResponse[] = [];
  const keep = (method: string, params: unknown, result: unknown) => {
    if (!(result instanceof RpcError)) responses.push({ method, params, result });
    return result;
  };
  return {
    node: {
      ...node,
      call: async (method, params, options) =>
        keep(method, params, await node.call(method, params, options)),
      async batch(calls, options) {
        const results = await node.batch(calls, options);
        return results.map((result, index) => {
          const call = calls[index];
          return call === undefined ? result : keep(call.method, call.params, result);
        });
      },
      post: async (path, body, options) => keep(path, body, await node.post(path, body, options)),
    },
    responsesTo(...texts) {
      return responses.filter(({ params }) => {
        const asked = JSON.stringify(params);
        return texts.some(text => asked.includes(text));
      });
    },
  };
}
