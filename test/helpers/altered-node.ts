import type { Node } from '#chains/nodes/node.ts';

/** Changes a result, given the method or path and what was asked. */
type Change = (method: string, params: readonly unknown[], result: unknown) => unknown;

/** A node whose responses are changed before they are read. */
export function alteredNode(node: Node, change: Change): Node {
  return {
    ...node,
    call: async (method, params, options) =>
      change(method, params, await node.call(method, params, options)),
    async batch(calls, options) {
      const results = await node.batch(calls, options);
      return calls.map(({ method, params }, index) => change(method, params, results[index]));
    },
    post: async (path, body, options) => change(path, [body], await node.post(path, body, options)),
  };
}

/** Replaces the nth of the elements that it is called with, and passes on the others. */
export function replaceNth(nth: number, replace: (element: unknown) => unknown) {
  let seen = 0;
  return {
    change: (element: unknown): unknown => (seen++ === nth ? replace(element) : element),
    /** How many elements it was called with. */
    get seen() {
      return seen;
    },
  };
}
