import type { NodeAbilities, NodeRole } from '../database/watching-tables.ts';

/** The JSON-RPC error that a node answered a call with. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A response that is longer, or nested deeper, than may be parsed, or that the node does not give since it is too
 * much, to a call that allows for it. Nothing is wrong with the node.
 */
export class ResponseTooLarge extends RpcError {
  override name = 'ResponseTooLarge';
  constructor(message: string) {
    super(0, message);
  }
}

/**
 * A node that did not answer, or whose answer is not what was asked for. The message names the node's
 * label and never its URL.
 */
export class NodeFailure extends Error {
  override name = 'NodeFailure';
}

/**
 * The server that answered has not come as far as another one had, whose block or state was asked for.
 * Nothing is wrong with the node: behind its URL, or at the next node, another server may answer.
 */
export class LaggingNode extends NodeFailure {
  override name = 'LaggingNode';
}

/**
 * The failure of the node that an error tells of, also where it answered an error that nobody understands.
 * undefined for an error that says nothing about a node.
 * @param node null if none could be chosen.
 */
export function failureOf(
  node: Pick<Node, 'label'> | null,
  error: unknown,
): NodeFailure | undefined {
  if (error instanceof NodeFailure) return error;
  if (!(error instanceof RpcError)) return undefined;
  const { message } = error;
  return new NodeFailure(node === null ? message : `${node.label}: ${message}`, { cause: error });
}

/** A node is not one of its chain. The message says what was found and what was expected. */
export class WrongIdentity extends Error {
  override name = 'WrongIdentity';
}

export interface NodeCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Whether a response that is too large is an ResponseTooLarge: the caller asks for less, or does without. */
  readonly mayBeTooLarge?: boolean;
  /** Whether no response in time is an ResponseTooLarge as well. */
  readonly mayTakeTooLong?: boolean;
}

/** Longest that a call may take, in milliseconds: most calls, and those that carry a block or a trace. */
export const CALL_TIMEOUT_MS = 10_000;
export const BLOCK_TIMEOUT_MS = 30_000;

export interface CallOptions {
  /** `CALL_TIMEOUT_MS` unless given. */
  readonly timeoutMs?: number;
  /** Path of JSON-RPC below the node's URL, where it is not the URL itself (Tron). */
  readonly path?: string;
  /** As in NodeCall; in a batch each call says so itself. */
  readonly mayBeTooLarge?: boolean;
}

/**
 * One provider's node, within one signal: its calls end when the signal is aborted. Results are parsed
 * JSON that nobody has checked.
 */
export interface Node {
  readonly id: string;
  readonly label: string;
  readonly role: NodeRole;
  readonly abilities: NodeAbilities;
  /**
   * One JSON-RPC call. A response that is larger than the method can rightly return is a failure.
   * @throws RpcError for the node's own error, NodeFailure for anything else.
   */
  call(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
  /**
   * Several calls in as few requests as the node accepts, answered in their order. A call that the node
   * refuses has its RpcError in place of a result.
   * @throws NodeFailure
   */
  batch(calls: readonly NodeCall[], options?: CallOptions): Promise<(unknown | RpcError)[]>;
  /**
   * Posts JSON to a path below the node's URL (Tron's REST).
   * @throws NodeFailure, ResponseTooLarge.
   */
  post(path: string, body: unknown, options?: CallOptions): Promise<unknown>;
}
