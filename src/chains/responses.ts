import { type Node, NodeFailure, RpcError } from './nodes/node.ts';

/** The failure of a node, whose message begins with its label. */
export function failure(node: Node, message: string, cause?: unknown): NodeFailure {
  return new NodeFailure(`${node.label}: ${message}`, { cause });
}

/** A JSON object in a node's response, unchecked. */
export type Fields = Readonly<Record<string, unknown>>;

/** @throws NodeFailure unless the value is an object. */
export function toFields(node: Node, value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failure(node, `${what} is no object`);
  }
  return value as Fields;
}

/** @throws NodeFailure unless the value is an array. */
export function toList(node: Node, value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw failure(node, `${what} is no list`);
  return value;
}

/** @throws NodeFailure unless the value is text of this format, which the message calls `name`. */
export function toMatch(
  node: Node,
  value: unknown,
  format: RegExp,
  what: string,
  name: string,
): string {
  if (typeof value === 'string' && format.test(value)) return value;
  throw failure(node, `${what} is no ${name}`);
}

/** @throws NodeFailure unless the value is a safe integer of 0 or more. */
export function toNatural(node: Node, value: unknown, what: string, name = 'number'): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw failure(node, `${what} is no ${name}`);
}

/** Returns a result of a batch, or throws the node's error. */
export function orThrow(result: unknown): unknown {
  if (result instanceof RpcError) throw result;
  return result;
}
