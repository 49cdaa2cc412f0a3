import { type Node, NodeFailure, RpcError } from '../nodes/node.ts';

/** A JSON object of a node's answer, unchecked. */
export type Fields = Readonly<Record<string, unknown>>;

/** @throws NodeFailure unless the value is an object. */
export function toFields(node: Node, value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NodeFailure(`${node.label}: ${what} is no object`);
  }
  return value as Fields;
}

/** @throws NodeFailure unless the value is an array. */
export function toList(node: Node, value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new NodeFailure(`${node.label}: ${what} is no list`);
  return value;
}

/** A result of a batch; an error of the node is thrown. */
export function orThrow(result: unknown): unknown {
  if (result instanceof RpcError) throw result;
  return result;
}
