import { RETRY_AFTER_MAXIMUM_MS } from '#outbound/retry-after.ts';
import { RpcError } from './node.ts';
import { parseJson } from './parse-json.ts';
import type { Redact } from './redaction.ts';
import type { NodeResponse } from './transport.ts';
import { TookTooLong, TooMuchAsked, UnusableResponse } from './unusable-response.ts';

/** The node limits calls, or is unavailable for a short while. That is not a failure. */
export class Throttled extends Error {
  override name = 'Throttled';
  /** null for the usual pause. */
  readonly retryAfterMs: number | null;
  /** Whether the same call may be made again after a short pause. */
  readonly isBrief: boolean;

  constructor(retryAfterMs: number | null, message = 'limits calls', isBrief = true) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.isBrief = isBrief;
  }
}

/** The node refuses batches, or batches of that size. */
export class BatchRefused extends Error {
  override name = 'BatchRefused';
  constructor() {
    super('refuses the batch');
  }
}

/**
 * Statuses with which a JSON-RPC error concerns the call: bitcoind uses 500 for errors, and 404 for unknown
 * methods; providers use 400, 403 for what a plan does not have, 408 for what took too long, and 422.
 */
const RPC_STATUSES = [200, 400, 403, 404, 408, 422, 500];
/** Statuses with which a server refuses a batch whose calls it would accept one by one. */
const BATCH_REFUSAL_STATUSES = [400, 403, 404, 405, 415, 422];
const TOO_MUCH_STATUS = 413;
const TOO_MANY_REQUESTS_STATUS = 429;
const UNAVAILABLE_STATUS = 503;
const GATEWAY_TIMEOUT_STATUS = 504;
/** Codes by which providers limit calls; -32005 has other meanings too, which its message shows. */
const THROTTLED_CODES = [429, -32005, -32097, -32429];
const THROTTLED_TEXT =
  /rate.?limit|too many requests|request limit|request rate|requests? per second|compute units per second|max usage reached|capacity (limit )?exceeded|frequency limit|\brps\b|allowed_rps|credits limited/i;
/** The other meanings of -32005: too much was asked for (Infura), or the server lags (Solana). */
const OTHER_LIMIT = /result|range|block|response size|logs|timeout|timed out|unhealthy|behind/i;
/** How long TronGrid suspends a client that calls too often, in seconds. It sends no Retry-After. */
const SUSPENDED = /suspended for (\d+) ?s/i;
/** go-ethereum's error in place of results that would make the response to a batch too long (-32003). */
const RESPONSE_TOO_LARGE = /^response too large/i;
/** bitcoind's error while it loads its blocks (RPC_IN_WARMUP). */
const WARMUP_CODE = -28;

/**
 * Reads the response to one call.
 * @throws RpcError, Throttled, TooMuchAsked, TookTooLong, UnusableResponse.
 */
export function readResult(response: NodeResponse, id: number, redact: Redact): unknown {
  const body = parseBody(response, redact);
  const isError = isObject(body) && isObject(body.error);
  if (!isObject(body) || (response.status !== 200 && !isError)) throw unusable(response, body);
  const result = readEntry(body, redact);
  if (!RPC_STATUSES.includes(response.status)) throw refusedBy(response, result);
  // A server that could not parse the request does not know its ID.
  const isOwn = body.id === id || (isError && (body.id === null || body.id === undefined));
  if (!isOwn) throw new UnusableResponse('an answer to a call that was not made');
  if (result instanceof RpcError) throw result;
  return result;
}

/**
 * Reads the response to a batch.
 * @returns Results in the order of the IDs; an RpcError for a call that was refused.
 * @throws BatchRefused, Throttled, TooMuchAsked, UnusableResponse.
 */
export function readBatch(
  response: NodeResponse,
  ids: readonly number[],
  redact: Redact,
): (unknown | RpcError)[] {
  const { status } = response;
  const body = parseBody(response, redact);
  if (!Array.isArray(body)) throw refusalOfBatch(response, body, redact);
  const results = new Map<unknown, unknown>();
  for (const entry of body) {
    if (!isObject(entry)) throw new UnusableResponse('an answer that is no JSON-RPC');
    if (results.has(entry.id)) throw new UnusableResponse('two answers to one call');
    results.set(entry.id, readEntry(entry, redact));
  }
  const errors = [...results.values()].filter(result => result instanceof RpcError);
  if (errors.some(({ message }) => RESPONSE_TOO_LARGE.test(message))) {
    throw new TooMuchAsked('a batch whose answer is too large');
  }
  const isComplete = results.size === ids.length && ids.every(id => results.has(id));
  const isRefused = results.size > 0 && errors.length === results.size;
  const isOfBatch = status !== 200 || errors.every(({ message }) => /\bbatch/i.test(message));
  if (isComplete && !(isRefused && isOfBatch)) return ids.map(id => results.get(id));
  if (isRefused && status === TOO_MUCH_STATUS) throw refusedBy(response, errors[0]);
  // In place of the whole batch, Geth sends one error with the ID of the first call.
  if (isRefused) throw new BatchRefused();
  throw new UnusableResponse('an answer to calls that were not made, or not to all that were');
}

/** Why the response to a batch is not a list. */
function refusalOfBatch(response: NodeResponse, body: unknown, redact: Redact): Error {
  const { status } = response;
  const error = isObject(body) ? readEntry(body, redact) : undefined;
  const isError = error instanceof RpcError;
  if (isError && !RPC_STATUSES.includes(status)) return refusedBy(response, error);
  if (isError || BATCH_REFUSAL_STATUSES.includes(status)) return new BatchRefused();
  return status === 200 && body !== undefined
    ? new UnusableResponse('an answer to a batch that is no list')
    : unusable(response, body);
}

/**
 * Reads the response of a REST path.
 * @throws Throttled, TooMuchAsked, UnusableResponse.
 */
export function readDocument(response: NodeResponse, redact: Redact): unknown {
  const body = parseBody(response, redact);
  // java-tron uses status 200 for failures.
  if (isObject(body) && Object.hasOwn(body, 'Error')) {
    throw refusedBy(response, new RpcError(0, redact(String(body.Error))));
  }
  if (response.status !== 200 || body === undefined) throw unusable(response, body);
  return body;
}

/**
 * The JSON of a response of any status; undefined if it is not JSON.
 * @throws Throttled
 */
function parseBody({ status, retryAfterMs, text }: NodeResponse, redact: Redact): unknown {
  const body = parseOrUndefined(text);
  const { code, message } = errorOf(body, redact);
  if (status === TOO_MANY_REQUESTS_STATUS || isThrottling(code, message)) {
    throw new Throttled(retryAfterMs ?? suspensionOf(message));
  }
  if (status === UNAVAILABLE_STATUS) {
    throw new Throttled(retryAfterMs, `status ${status}`, false);
  }
  return body;
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The error in a response, which providers put in different places; an empty message if there is none. */
function errorOf(body: unknown, redact: Redact): { code: number; message: string } {
  if (!isObject(body) || Object.hasOwn(body, 'result')) return { code: 0, message: '' };
  const { error = body.Error ?? body } = body;
  return readError(error, redact);
}

/** Reads an error, which may be an object or only its message. */
function readError(error: unknown, redact: Redact, without = '') {
  const { code, message } = isObject(error) ? error : { code: 0, message: error };
  return {
    code: Number.isSafeInteger(code) ? Number(code) : 0,
    message: redact(typeof message === 'string' ? message : without),
  };
}

function suspensionOf(message: string): number | null {
  const seconds = SUSPENDED.exec(message)?.[1];
  return seconds === undefined ? null : Math.min(Number(seconds) * 1000, RETRY_AFTER_MAXIMUM_MS);
}

/** The failure that a response without a usable body stands for. */
function unusable({ status, retryAfterMs }: NodeResponse, body: unknown): UnusableResponse {
  if (status === TOO_MUCH_STATUS) return new TooMuchAsked(`status ${status}`);
  if (status === GATEWAY_TIMEOUT_STATUS) return new TookTooLong(`status ${status}`);
  if (status !== 200) return new UnusableResponse(`status ${status}`, retryAfterMs);
  const kind = body === undefined ? 'JSON' : 'JSON-RPC';
  return new UnusableResponse(`an answer that is no ${kind}`);
}

/** The failure that an error with an unexpected status stands for. */
function refusedBy({ status, retryAfterMs }: NodeResponse, error: unknown): UnusableResponse {
  const said = error instanceof RpcError ? `"${error.message}"` : 'without a reason';
  if (status === TOO_MUCH_STATUS) return new TooMuchAsked(said);
  return new UnusableResponse(status === 200 ? said : `status ${status}: ${said}`, retryAfterMs);
}

/** The result of one response, or its RpcError. */
function readEntry(entry: Record<string, unknown>, redact: Redact): unknown {
  const { error } = entry;
  // Bitcoin's responses have both result and error.
  if (error === undefined || error === null) {
    if (Object.hasOwn(entry, 'result')) return entry.result;
    const text = Object.hasOwn(entry, 'Error') ? redact(String(entry.Error)) : undefined;
    throw new UnusableResponse(text === undefined ? 'an answer that is no JSON-RPC' : `"${text}"`);
  }
  const { code, message } = readError(error, redact, 'an error without a message');
  if (isThrottling(code, message)) throw new Throttled(suspensionOf(message));
  if (code === WARMUP_CODE) throw new UnusableResponse(`"${message}"`);
  return new RpcError(code, message);
}

function isThrottling(code: number, text: string): boolean {
  if (THROTTLED_TEXT.test(text)) return true;
  return THROTTLED_CODES.includes(code) && !OTHER_LIMIT.test(text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
