import { hash } from 'node:crypto';
import type { Keyring } from '#crypto/keyring.ts';
import { ApiError } from '#errors/api-error.ts';
import { batchOn } from '#storage/database/batch.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { isLockConflict, isRefusedByDatabase } from '#storage/database/errors.ts';
import { inOneStatement, inSavepoint, transact } from '#storage/database/transaction.ts';
import {
  type ClaimedCreation,
  type Creation,
  insertCreationsOnce,
} from '#storage/repositories/payments/creation.ts';
import {
  findStoredResponse,
  type IdempotencyScope,
  storeResponse,
  tryLockIdempotencyKey,
} from '#storage/repositories/payments/idempotency-keys.ts';
import { openResponse, type Response, sealResponse } from './stored-response.ts';

/** How long a response is replayed, in milliseconds. */
export const RESPONSE_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Longest Idempotency-Key, in characters. */
export const IDEMPOTENCY_KEY_MAXIMUM = 255;
/** Retry-After of E4003, in seconds. */
export const IN_PROGRESS_RETRY_SECONDS = 5;
/**
 * Maximum number of creations in one statement: each waits for the slowest of them and for any lock that one of them
 * waits for. Chosen, not measured.
 */
const BATCH_MAXIMUM = 25;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A request under an idempotency key. */
export interface IdempotentRequest {
  readonly scope: IdempotencyScope;
  /** SHA-256 of the raw body: white space and key order count. */
  readonly bodySha256: Buffer;
  readonly now: Date;
}

export interface Outcome extends Response {
  readonly replayed: boolean;
}

/**
 * @param key The bytes of the header as Latin-1, as Node reads them.
 * @throws ApiError E4001
 */
export function checkIdempotencyKey(key: string): void {
  const written = toWrittenText(key);
  if (written.trim() === '' || [...written].length > IDEMPOTENCY_KEY_MAXIMUM) {
    throw new ApiError(
      'E4001',
      `Idempotency-Key must be 1 to ${IDEMPOTENCY_KEY_MAXIMUM} characters and not blank.`,
    );
  }
}

/** The text that the sender wrote. Most send UTF-8; other bytes are read as Latin-1. */
function toWrittenText(header: string): string {
  try {
    return utf8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}

export function sha256(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}

/**
 * The response already given under the key, if there is one.
 * @throws ApiError E4002 when it was given to another body.
 */
export async function findReplay(
  db: Connection,
  keyring: Keyring,
  { scope, bodySha256, now }: IdempotentRequest,
): Promise<Outcome | undefined> {
  const stored = await findStoredResponse(db, scope, now);
  if (stored === undefined) return undefined;
  if (!stored.bodySha256.equals(bodySha256)) throw new ApiError('E4002');
  return { ...openResponse(keyring, scope, stored), replayed: true };
}

/**
 * Claims the key, creates a payment and keeps the response, all in one statement.
 *
 * The statement is shared with other creations of the same tick, since its commit costs more than all of them. If the
 * database refuses the statement, each creation is written alone, so that none fails because of another.
 *
 * @throws ApiError E4003 while the original runs, E4002 for another body.
 * @throws UncertainCommit, and the error with which the database refuses the statement.
 */
export async function claimAndCreate(
  db: Database,
  keyring: Keyring,
  request: IdempotentRequest,
  creation: Creation,
  response: Response,
): Promise<Outcome> {
  const { scope, bodySha256, now } = request;
  const written = await insertBatched(db, {
    ...creation,
    scope,
    response: { ...sealResponse(keyring, scope, response), bodySha256 },
    now,
    expiresAt: new Date(now.getTime() + RESPONSE_LIFETIME_MS),
  });
  if (written === 'created') return { ...response, replayed: false };
  return replayOrInProgress(db, keyring, request);
}

const insertBatched = batchOn(async (db: Database, creations: readonly ClaimedCreation[]) => {
  const insert = (some: readonly ClaimedCreation[]) =>
    inOneStatement(db, connection => insertCreationsOnce(connection, some));
  try {
    return await insert(creations);
  } catch (error) {
    // A connection that failed would fail each of them as well.
    if (creations.length === 1 || !isRefusedByDatabase(error)) throw error;
    return creations.map(async each => {
      const [written] = await insert([each]);
      return written;
    });
  }
}, BATCH_MAXIMUM);

/**
 * Claims the key and executes `work` at most once, in one transaction.
 *
 * The claim, everything `work` writes and the response commit together, so a crash leaves all of it or nothing. A
 * refusal (4xx, and E5002 if the work cannot even begin) leaves nothing and frees the key. A failure rolls the work
 * back and stores the response that `onFailure` makes of it. After a lock conflict, `work` is retried instead; if it
 * keeps failing, it leaves nothing.
 *
 * @throws ApiError E4003 while the original runs, E4002 for another body, and the refusals of `work`.
 * @throws UncertainCommit
 */
export function claimAndExecute(
  db: Database,
  keyring: Keyring,
  request: IdempotentRequest,
  work: (tx: Connection) => Promise<Response>,
  onFailure: (error: unknown) => Response,
): Promise<Outcome> {
  const { scope, bodySha256, now } = request;
  return transact(db, async tx => {
    if (!(await tryLockIdempotencyKey(tx, scope))) return replayOrInProgress(tx, keyring, request);
    // Read after the lock: the original may have committed since the request was first looked at.
    const replay = await findReplay(tx, keyring, request);
    if (replay !== undefined) return replay;

    const response = await inSavepoint(tx, work, error => {
      // Every code but E5001 says that nothing was executed.
      if (error instanceof ApiError && error.errorCode !== 'E5001') throw error;
      if (isLockConflict(error)) throw error;
      return onFailure(error);
    });
    const expiresAt = new Date(now.getTime() + RESPONSE_LIFETIME_MS);
    const stored = { ...sealResponse(keyring, scope, response), bodySha256 };
    await storeResponse(tx, scope, stored, now, expiresAt);
    return { ...response, replayed: false };
  });
}

/**
 * The response when another request has the key. That request may be a retry as well, long after the original, so a
 * stored response comes first.
 * @throws ApiError E4002 when it was given to another body, E4003 when the original is still running.
 */
async function replayOrInProgress(
  db: Connection,
  keyring: Keyring,
  request: IdempotentRequest,
): Promise<Outcome> {
  const replay = await findReplay(db, keyring, request);
  if (replay !== undefined) return replay;
  throw new ApiError('E4003', undefined, { retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS });
}
