import type { Clock } from '#time/clock.ts';
import { abortableWait, createAllowance, type Wait } from './allowance.ts';
import { createBatches } from './batches.ts';
import {
  CALL_TIMEOUT_MS,
  type CallOptions,
  type Node,
  type NodeCall,
  NodeFailure,
  ResponseTooLarge,
  RpcError,
} from './node.ts';
import { type CallOutcome, nodeRequestSeconds, nodeRequests } from './node-metrics.ts';
import type { NodeSettings } from './node-settings.ts';
import { createPause } from './pause.ts';
import { createRedaction } from './redaction.ts';
import { limitsOf, limitsOfBatch, type ResponseLimits } from './response-limits.ts';
import { BatchRefused, readBatch, readDocument, readResult, Throttled } from './responses.ts';
import { type NodeResponse, openTransport } from './transport.ts';
import { Oversized, TookTooLong, TooMuchAsked, UnusableResponse } from './unusable-response.ts';

/** Longest pause that a call waits out, in milliseconds; during a longer one it fails at once. */
const PATIENCE_MS = 5_000;
/** Attempts at a call while the node throttles it. */
const ATTEMPTS_MAXIMUM = 3;

interface OpenNodeOptions {
  readonly clock: Clock;
  /** Waits for the allowance and for the end of short pauses. */
  readonly wait?: Wait;
}

/** A node with its connections, rate limit and pauses. */
export interface OpenNode {
  readonly settings: NodeSettings;
  /** The node, whose calls end when the signal is aborted. */
  within(signal: AbortSignal): Node;
  /** Milliseconds until it may be asked again after failures; 0 if it may be now. */
  pausedFor(): number;
  /** Why the last call failed; null once a later one has succeeded. */
  lastFailure(): string | null;
  /** How often it has failed; being throttled is not a failure. */
  failures(): number;
  /** How many connections to it were opened so far. */
  connections(): number;
  /** How many calls were sent to it so far; each entry of a batch is one. */
  calls(): number;
  /** Maximum calls of a batch if it has refused a larger one; null if it has refused none. */
  batchLimit(): number | null;
  close(): Promise<void>;
}

/** One request, with as many calls as methods. */
interface Exchange<T> {
  readonly methods: readonly string[];
  readonly path: string;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly options: CallOptions | undefined;
  readonly limits: ResponseLimits;
  /** Whether asking for too much throws ResponseTooLarge, and is no failure. */
  readonly mayBeTooLarge: boolean;
  /** Whether a timeout throws ResponseTooLarge as well. */
  readonly mayTakeTooLong: boolean;
  read(response: NodeResponse): T;
}

const counted = new WeakSet<Error>();

/** Whether a failure comes from a request: the node was already paused for it. */
export function isCounted(failure: NodeFailure): boolean {
  return counted.has(failure);
}

/** Opens a node; no call is made yet. */
export function openNode(
  settings: NodeSettings,
  { clock, wait = abortableWait }: OpenNodeOptions,
): OpenNode {
  const { id, chain, label, role, abilities, requestsPerSecond, access } = settings;
  const transport = openTransport(access, label, clock);
  const allowance = createAllowance({ perSecond: requestsPerSecond, wait });
  const pause = createPause(clock);
  const redact = createRedaction(access);
  // A larger batch would have to wait for more than a second's allowance.
  const batches = createBatches(Math.max(1, Math.min(abilities.batch, requestsPerSecond)));
  let lastFailure: string | null = null;
  let failures = 0;
  let calls = 0;
  let nextId = 1;

  async function exchange<T>(request: Exchange<T>): Promise<T> {
    const { methods, path, body, signal, options, limits, read } = request;
    for (let attempt = 1; ; attempt += 1) {
      await outlastPause(signal);
      await allowance.take(methods.length, signal);
      // While this call waited, another one may have failed, or be the single attempt after a pause.
      requireNoPause();
      const number = pause.attempt();
      calls += methods.length;
      const endTimer = nodeRequestSeconds.startTimer({ chain, node: label });
      const count = (outcome: CallOutcome) => {
        for (const method of methods) nodeRequests.inc({ chain, node: label, method, outcome });
      };
      try {
        const timeoutMs = options?.timeoutMs ?? CALL_TIMEOUT_MS;
        const asked = transport.post(path, body, { signal, timeoutMs, limits });
        const response = await asked.finally(endTimer);
        const result = read(response);
        count('answered');
        pause.succeeded(number);
        lastFailure = null;
        return result;
      } catch (error) {
        signal.throwIfAborted();
        const isTooLarge =
          (request.mayBeTooLarge &&
            (error instanceof Oversized || error instanceof TooMuchAsked)) ||
          (request.mayTakeTooLong && error instanceof TookTooLong);
        if (isTooLarge || error instanceof RpcError || error instanceof BatchRefused) {
          count('refused');
          pause.succeeded(number);
          throw isTooLarge ? new ResponseTooLarge(error.message) : error;
        }
        const isThrottled = error instanceof Throttled;
        const isUnusable = error instanceof NodeFailure || error instanceof UnusableResponse;
        if (!isThrottled && !isUnusable) throw error;
        count(isThrottled ? 'throttled' : 'failed');
        pause.failed(number, error instanceof NodeFailure ? null : error.retryAfterMs);
        const mayRetry = attempt < ATTEMPTS_MAXIMUM && pause.remaining() <= PATIENCE_MS;
        if (!(isThrottled && error.isBrief && mayRetry)) throw failureOf(error);
      }
    }
  }

  async function outlastPause(signal: AbortSignal): Promise<void> {
    requireNoPause();
    const remaining = pause.remaining();
    if (remaining > 0) await wait(remaining, signal);
  }

  /** @throws NodeFailure during a pause that is longer than a call waits for. */
  function requireNoPause(): void {
    const remaining = pause.remaining();
    if (remaining <= PATIENCE_MS) return;
    const seconds = Math.ceil(remaining / 1000);
    const failure = new NodeFailure(`${label}: left alone for ${seconds} s after failures`);
    counted.add(failure);
    throw failure;
  }

  function failureOf(error: Error): NodeFailure {
    const failure =
      error instanceof NodeFailure ? error : new NodeFailure(`${label}: ${error.message}`);
    counted.add(failure);
    lastFailure = failure.message;
    // A throttled node need not be verified again.
    if (!(error instanceof Throttled)) failures += 1;
    return failure;
  }

  function call(asked: NodeCall, signal: AbortSignal, options?: CallOptions) {
    const { method, params, mayBeTooLarge = options?.mayBeTooLarge ?? false } = asked;
    const callId = nextId++;
    return exchange({
      methods: [method],
      path: options?.path ?? '',
      body: JSON.stringify({ jsonrpc: '2.0', id: callId, method, params }),
      signal,
      options,
      limits: limitsOf(method, params),
      mayBeTooLarge,
      mayTakeTooLong: asked.mayTakeTooLong ?? false,
      read: response => readResult(response, callId, redact),
    });
  }

  async function callInBatch(
    calls: readonly NodeCall[],
    signal: AbortSignal,
    options?: CallOptions,
  ): Promise<(unknown | RpcError)[]> {
    const entries = calls.map(({ method, params }) => ({
      jsonrpc: '2.0',
      id: nextId++,
      method,
      params,
    }));
    const ids = entries.map(entry => entry.id);
    return exchange({
      methods: calls.map(({ method }) => method),
      path: options?.path ?? '',
      body: JSON.stringify(entries),
      signal,
      options,
      limits: limitsOfBatch(calls),
      // Smaller batches then show which call has the large response.
      mayBeTooLarge: true,
      mayTakeTooLong: calls.some(each => each.mayTakeTooLong),
      read: response => readBatch(response, ids, redact),
    });
  }

  async function send(part: readonly NodeCall[], signal: AbortSignal, options?: CallOptions) {
    const [only, ...others] = part;
    return only !== undefined && others.length === 0
      ? [await call(only, signal, options)]
      : callInBatch(part, signal, options);
  }

  return {
    settings,
    within: signal => ({
      id,
      label,
      role,
      abilities,
      call: (method, params, options) => call({ method, params }, signal, options),
      batch: (calls, options) => batches.send(calls, part => send(part, signal, options)),
      post: (path, body, options) =>
        exchange({
          methods: [path],
          path,
          body: JSON.stringify(body),
          signal,
          options,
          limits: limitsOf(path, []),
          mayBeTooLarge: options?.mayBeTooLarge ?? false,
          mayTakeTooLong: false,
          read: response => readDocument(response, redact),
        }),
    }),
    pausedFor: () => pause.remaining(),
    lastFailure: () => lastFailure,
    failures: () => failures,
    connections: () => transport.connections(),
    calls: () => calls,
    batchLimit: () => batches.limit(),
    close: () => transport.close(),
  };
}
