import { RpcError } from './node.ts';
import { parseJson } from './parse-json.ts';
import type { Redact } from './redaction.ts';
import type { NodeAnswer } from './transport.ts';
import { UnusableAnswer } from './unusable-answer.ts';

/** The node limits calls: status 429, or an error that says so. */
export class Throttled extends Error {
  /** null for the usual pause. */
  readonly retryAfterMs: number | null;

  constructor(retryAfterMs: number | null) {
    super('limits calls');
    this.name = 'Throttled';
    this.retryAfterMs = retryAfterMs;
  }
}

/** The node does not answer a batch, or none of that size. */
export class BatchRefused extends Error {
  constructor() {
    super('refuses the batch');
    this.name = 'BatchRefused';
  }
}

/** bitcoind answers errors with 500, and unknown methods with 404; others use 400. */
const RPC_STATUSES = [200, 400, 404, 500];
/** Statuses with which a server refuses a batch that it would answer call by call. */
const BATCH_REFUSAL_STATUSES = [400, 404, 405, 413, 415, 422];
/** Codes by which providers limit calls; -32005 is also that of a log query with too many results. */
const THROTTLED_CODES = [429, -32005, -32097];
const THROTTLED_TEXT =
  /rate.?limit|too many requests|request limit|requests? per second|compute units per second|capacity exceeded/i;
const TOO_MANY_RESULTS = /result|range|block|response size|logs/i;
/** bitcoind while it loads its blocks (RPC_IN_WARMUP). */
const WARMUP_CODE = -28;

/**
 * Reads the answer to one call.
 * @throws RpcError, Throttled, UnusableAnswer.
 */
export function readResult(answer: NodeAnswer, id: number, redact: Redact): unknown {
  const body = parseBody(answer, RPC_STATUSES);
  const isError = isObject(body) && isObject(body.error);
  if (answer.status !== 200 && !isError) throw new UnusableAnswer(`status ${answer.status}`);
  if (!isObject(body)) throw new UnusableAnswer('an answer that is no JSON-RPC');
  const result = readEntry(body, redact);
  // A server that could not read the request does not know its ID.
  const isOwn = body.id === id || (isError && (body.id === null || body.id === undefined));
  if (!isOwn) throw new UnusableAnswer('an answer to a call that was not made');
  if (result instanceof RpcError) throw result;
  return result;
}

/**
 * Reads the answer to a batch.
 * @returns Results in the order of the IDs; an RpcError for a call that was refused.
 * @throws BatchRefused, Throttled, UnusableAnswer.
 */
export function readBatch(
  answer: NodeAnswer,
  ids: readonly number[],
  redact: Redact,
): (unknown | RpcError)[] {
  const isRefusal = BATCH_REFUSAL_STATUSES.includes(answer.status);
  let body: unknown;
  try {
    body = parseBody(answer, RPC_STATUSES);
  } catch (error) {
    if (error instanceof UnusableAnswer && isRefusal) throw new BatchRefused();
    throw error;
  }
  if (!Array.isArray(body)) {
    if (isObject(body) && readEntry(body, redact) instanceof RpcError) throw new BatchRefused();
    throw isRefusal
      ? new BatchRefused()
      : new UnusableAnswer('an answer to a batch that is no list');
  }
  const results = new Map<unknown, unknown>();
  for (const entry of body) {
    if (!isObject(entry)) throw new UnusableAnswer('an answer that is no JSON-RPC');
    if (results.has(entry.id)) throw new UnusableAnswer('two answers to one call');
    results.set(entry.id, readEntry(entry, redact));
  }
  const isComplete = results.size === ids.length && ids.every(id => results.has(id));
  if (isComplete && answer.status === 200) return ids.map(id => results.get(id));
  // Geth answers one error, with the ID of the first call, in place of the whole batch.
  const hasErrorsOnly = [...results.values()].every(result => result instanceof RpcError);
  if (results.size > 0 && hasErrorsOnly) throw new BatchRefused();
  throw new UnusableAnswer('an answer to calls that were not made, or not to all that were');
}

/**
 * Reads the answer of a REST path.
 * @throws Throttled, UnusableAnswer.
 */
export function readDocument(answer: NodeAnswer, redact: Redact): unknown {
  const body = parseBody(answer, [200]);
  // java-tron answers with status 200 when it limits calls, and when it fails.
  if (isObject(body) && Object.hasOwn(body, 'Error')) {
    const text = redact(String(body.Error));
    throw THROTTLED_TEXT.test(text) ? new Throttled(null) : new UnusableAnswer(`"${text}"`);
  }
  return body;
}

function parseBody(
  { status, retryAfterMs, text }: NodeAnswer,
  statuses: readonly number[],
): unknown {
  if (status === 429) throw new Throttled(retryAfterMs);
  if (!statuses.includes(status)) throw new UnusableAnswer(`status ${status}`, retryAfterMs);
  try {
    return parseJson(text);
  } catch {
    throw new UnusableAnswer(status === 200 ? 'an answer that is no JSON' : `status ${status}`);
  }
}

/** The result of one answer, or its RpcError. */
function readEntry(entry: Record<string, unknown>, redact: Redact): unknown {
  const { error } = entry;
  // Bitcoin's answers have both.
  if (error === undefined || error === null) {
    if (Object.hasOwn(entry, 'result')) return entry.result;
    const text = Object.hasOwn(entry, 'Error') ? redact(String(entry.Error)) : undefined;
    if (text !== undefined && THROTTLED_TEXT.test(text)) throw new Throttled(null);
    throw new UnusableAnswer(text === undefined ? 'an answer that is no JSON-RPC' : `"${text}"`);
  }
  const { code, message } = isObject(error) ? error : { code: 0, message: error };
  const text = redact(typeof message === 'string' ? message : 'an error without a message');
  const number = Number.isSafeInteger(code) ? Number(code) : 0;
  if (isThrottling(number, text)) throw new Throttled(null);
  if (number === WARMUP_CODE) throw new UnusableAnswer(`"${text}"`);
  return new RpcError(number, text);
}

function isThrottling(code: number, text: string): boolean {
  if (THROTTLED_TEXT.test(text)) return true;
  return THROTTLED_CODES.includes(code) && !TOO_MANY_RESULTS.test(text);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
