import type { NodeAbilities, NodeRole } from '#storage/database/watching-tables.ts';

/** The JSON-RPC error in a node's response to a call. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A response that is too long or too deeply nested to be parsed, or that the node refuses because it is too
 * large. Thrown only for calls that allow for it: nothing is wrong with the node.
 */
export class ResponseTooLarge extends RpcError {
  override name = 'ResponseTooLarge';
  constructor(message: string) {
    super(0, message);
  }
}

/**
 * A node that did not respond, or whose response is not what was asked for. The message names the node's
 * label and never its URL.
 */
export class NodeFailure extends Error {
  override name = 'NodeFailure';
}

/**
 * The server that responded lags: it does not have a block or state that another server has already shown.
 * Nothing is wrong with the node: another server behind its URL, or another node, may have it.
 */
export class LaggingNode extends NodeFailure {
  override name = 'LaggingNode';
}

/**
 * The failure of a node behind an error; an RpcError that no caller understood is one too. undefined for an error that
 * says nothing about a node.
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

/** A node does not serve the chain that it is configured for. The message says what was found and what was expected. */
export class WrongIdentity extends Error {
  override name = 'WrongIdentity';
}

/** Whether a node is to blame: it failed, or responded with an error. */
export function isNodeError(error: unknown): error is NodeFailure | RpcError {
  return error instanceof NodeFailure || error instanceof RpcError;
}

export interface NodeCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Whether a response that is too large throws ResponseTooLarge: the caller asks for less, or does without it. */
  readonly mayBeTooLarge?: boolean;
  /** Whether a timeout throws ResponseTooLarge as well. */
  readonly mayTakeTooLong?: boolean;
}

/** Longest that most calls may take, in milliseconds. */
export const CALL_TIMEOUT_MS = 10_000;
/** Longest that a call may take whose response carries a block or a trace, in milliseconds. */
export const BLOCK_TIMEOUT_MS = 30_000;

export interface CallOptions {
  /** `CALL_TIMEOUT_MS` unless given. */
  readonly timeoutMs?: number;
  /** Path of JSON-RPC below the node's URL, if it is not the URL itself (Tron). */
  readonly path?: string;
  /** As in NodeCall; in a batch each call says so itself. */
  readonly mayBeTooLarge?: boolean;
}

/**
 * One provider's node, bound to a signal: its calls end when the signal is aborted. Results are parsed JSON,
 * unchecked.
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
   * Several calls in as few requests as the node accepts; results in the order of the calls. A call that the node
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
