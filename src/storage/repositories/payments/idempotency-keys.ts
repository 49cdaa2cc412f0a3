import type { Connection } from '../../database/connection.ts';
import { tryLockName } from '../advisory-locks.ts';

/** What an idempotency key is unique within: an account, and the method and route it was sent to. */
export interface IdempotencyScope {
  /** ID of the merchant or the partner, not of one of its API keys. */
  readonly accountId: string;
  /** For example `POST /external/v1/payments/prompt`. */
  readonly route: string;
  readonly key: string;
}

export interface StoredResponse {
  bodySha256: Buffer;
  /** null in a sealed response, which contains it. */
  status: number | null;
  body: Buffer;
  /** Version of the master key that it is sealed under; null for one that is not sealed. */
  masterKeyVersion: number | null;
}

/** Tries to lock the key until the transaction ends, without waiting. */
export function tryLockIdempotencyKey(db: Connection, scope: IdempotencyScope): Promise<boolean> {
  return tryLockName(db, lockNameOf(scope));
}

/** The text whose hash is the key's advisory lock. */
export function lockNameOf({ accountId, route, key }: IdempotencyScope): string {
  return JSON.stringify([accountId, route, key]);
}

const STORED_RESPONSE = [
  'body_sha256 as bodySha256',
  'status',
  'body',
  'master_key_version as masterKeyVersion',
] as const;

/** The response stored under the key, unless it has expired at `now`. */
export function findStoredResponse(
  db: Connection,
  scope: IdempotencyScope,
  now: Date,
): Promise<StoredResponse | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .select(STORED_RESPONSE)
    .where('account_id', '=', scope.accountId)
    .where('route', '=', scope.route)
    .where('key', '=', scope.key)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Stores a response, replacing an expired one under the same key. */
export async function storeResponse(
  db: Connection,
  scope: IdempotencyScope,
  response: StoredResponse,
  now: Date,
  expiresAt: Date,
): Promise<void> {
  const columns = {
    body_sha256: response.bodySha256,
    status: response.status,
    body: response.body,
    master_key_version: response.masterKeyVersion,
    created_at: now,
    expires_at: expiresAt,
  };
  await db
    .insertInto('idempotency_keys')
    .values({ account_id: scope.accountId, route: scope.route, key: scope.key, ...columns })
    .onConflict(conflict => conflict.columns(['account_id', 'route', 'key']).doUpdateSet(columns))
    .execute();
}
