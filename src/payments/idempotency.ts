import { createHash } from 'node:crypto';
import type { Connection, Database } from '../database/connection.ts';
import { inSavepoint, inTransaction } from '../database/transaction.ts';
import { ApiError } from '../errors/api-error.ts';
import {
  findStoredResponse,
  type IdempotencyScope,
  type StoredResponse,
  storeResponse,
  tryLockIdempotencyKey,
} from '../repositories/idempotency-keys.ts';

/** How long a response is replayed, in milliseconds. */
export const RESPONSE_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Longest Idempotency-Key, in characters. */
export const IDEMPOTENCY_KEY_MAXIMUM = 255;
/** What E4003 tells a client to wait, in seconds. */
export const IN_PROGRESS_RETRY_SECONDS = 5;

export interface IdempotentRequest {
  readonly scope: IdempotencyScope;
  /** SHA-256 of the raw body: white space and key order count. */
  readonly bodySha256: Buffer;
}

/** An answer as it is sent and kept. */
export interface Response {
  readonly status: number;
  readonly body: Buffer;
}

export interface Outcome extends Response {
  readonly replayed: boolean;
}

/** @throws ApiError E4001 */
export function checkIdempotencyKey(key: string): void {
  if (key.trim() === '' || key.length > IDEMPOTENCY_KEY_MAXIMUM) {
    throw new ApiError(
      'E4001',
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAXIMUM} characters and not blank.`,
    );
  }
}

export function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/**
 * The response already given under the key, if there is one.
 * @throws ApiError E4002 when it was given to another body.
 */
export async function findReplay(
  db: Connection,
  request: IdempotentRequest,
  now: Date,
): Promise<Outcome | undefined> {
  const stored = await findStoredResponse(db, request.scope, now);
  return stored === undefined ? undefined : replay(stored, request);
}

/**
 * The response already given under a key that another request has taken: that may be a retry as well,
 * of what was answered long ago.
 * @throws ApiError E4002 when it was given to another body, E4003 when the original is still running.
 */
export async function replayOrInProgress(
  db: Connection,
  request: IdempotentRequest,
  now: Date,
): Promise<Outcome> {
  const answered = await findReplay(db, request, now);
  if (answered !== undefined) return answered;
  throw new ApiError('E4003', undefined, { retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS });
}

/**
 * Executes `work` at most once for the key, on whichever replica.
 *
 * The claim, everything `work` writes and the response commit together, so a crash leaves all of it
 * or nothing. A refusal (4xx, and E5002 where the work cannot even begin) leaves nothing and frees
 * the key. A failure rolls the work back and keeps the response that `onFailure` makes of it.
 *
 * @throws ApiError E4003 while the original runs, E4002 for another body, and the refusals of `work`.
 * @throws UncertainCommit
 */
export function executeOnce(
  db: Database,
  request: IdempotentRequest,
  now: Date,
  work: (tx: Connection) => Promise<Response>,
  onFailure: (error: unknown) => Response,
): Promise<Outcome> {
  return inTransaction(db, async tx => {
    if (!(await tryLockIdempotencyKey(tx, request.scope))) {
      return replayOrInProgress(tx, request, now);
    }
    // Read after the lock: the original may have committed since the request was first looked at.
    const stored = await findStoredResponse(tx, request.scope, now);
    if (stored !== undefined) return replay(stored, request);

    const response = await inSavepoint(tx, work, error => {
      if (error instanceof ApiError && isRefusal(error)) throw error;
      return onFailure(error);
    });
    const expiresAt = new Date(now.getTime() + RESPONSE_LIFETIME_MS);
    const kept = { ...response, bodySha256: request.bodySha256 };
    await storeResponse(tx, request.scope, kept, now, expiresAt);
    return { ...response, replayed: false };
  });
}

function replay(stored: StoredResponse, request: IdempotentRequest): Outcome {
  if (!stored.bodySha256.equals(request.bodySha256)) throw new ApiError('E4002');
  return { status: stored.status, body: stored.body, replayed: true };
}

/** Everything of the catalogue but E5001 says that nothing was executed. */
function isRefusal(error: ApiError): boolean {
  return error.errorCode !== 'E5001';
}
