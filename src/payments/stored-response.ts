import type { Keyring } from '#crypto/keyring.ts';
import {
  type IdempotencyScope,
  lockNameOf,
  type StoredResponse,
} from '#storage/repositories/payments/idempotency-keys.ts';

/** A response as it is sent and kept. */
export interface Response {
  readonly status: number;
  readonly body: Buffer;
}

/** Status and body as they are sealed. */
const SEALED = /^(\d{3}) (.*)$/s;

/**
 * Seals a response for its row: it contains the checkout token, which must not be readable in the table or a backup
 * of it. It can be opened only with this idempotency key of this account.
 */
export function sealResponse(
  keyring: Keyring,
  scope: IdempotencyScope,
  { status, body }: Response,
): Pick<StoredResponse, 'status' | 'body' | 'masterKeyVersion'> {
  const text = Buffer.concat([Buffer.from(`${status} `), body]);
  const sealed = keyring.seal(text, lockNameOf(scope), 'response');
  return { status: null, body: sealed, masterKeyVersion: keyring.currentVersion };
}

/**
 * Opens a stored response. Those that the previous release stored are not sealed.
 * @throws Error for altered bytes, or when its master key is gone.
 */
export function openResponse(
  keyring: Keyring,
  scope: IdempotencyScope,
  { status, body, masterKeyVersion }: StoredResponse,
): Response {
  if (status !== null) return { status, body };
  const text = keyring.open(body, lockNameOf(scope), masterKeyVersion ?? 0, 'response');
  const [, code, content] = SEALED.exec(text) ?? [];
  if (code === undefined || content === undefined) throw new Error('a response without a status');
  return { status: Number(code), body: Buffer.from(content) };
}
