import { timingSafeEqual } from 'node:crypto';
import type { EventType } from '#schemas/event.ts';
import type { PaymentSnapshot } from '#schemas/payment.ts';
import { readWebhookSecret, signWebhook } from '../webhooks/signature.ts';
import { WebhookVerificationError } from './webhook-verification-error.ts';

/** What a webhook tells: the payment as it was at the event. */
export interface WebhookEvent {
  /** The same whenever this event is sent again: remember it to act on it once. */
  readonly id: string;
  readonly object: 'event';
  readonly type: EventType;
  readonly createdAt: string;
  readonly data: PaymentSnapshot;
}

export interface ReceivedWebhook {
  /** Exactly the bytes that were received. */
  readonly body: string | Uint8Array;
  /** As fetch or as node:http has them. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…`, as it was shown; or several of them. */
  readonly secret?: string | undefined;
  readonly secrets?: readonly string[] | undefined;
  /** How far the time it was sent may lie from now, either way, in seconds. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

export const TOLERANCE_SECONDS = 300;
const SIGNATURE_VERSION = 'v1,';
const SIGNATURE_BYTES = 32;
/** More signatures than rotations make; a longer list is somebody else's. */
const SIGNATURES_MAXIMUM = 16;

/**
 * Verifies a webhook (Standard Webhooks) and reads it. Nothing of the body is looked at before its
 * signature holds. Deliver-once is yours: the same event may come more than once.
 *
 * @throws WebhookVerificationError for whatever we did not send, or that is too old.
 * @throws TypeError without a secret, or for one that is none.
 */
export function verifyWebhook(webhook: ReceivedWebhook): WebhookEvent {
  const { body, headers, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now } = webhook;
  const keys = [webhook.secret ?? [], webhook.secrets ?? []].flat().map(readWebhookSecret);
  if (keys.length === 0) throw new TypeError('verifyWebhook needs a secret');

  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readSignatures(readHeader(headers, 'webhook-signature'));
  checkTime(timestamp, toleranceSeconds, now());

  let matches = 0;
  for (const key of keys) {
    const expected = signWebhook(key, { id, timestamp, body });
    // Every pair is compared, so that the time it takes says nothing.
    for (const signature of signatures) matches += Number(timingSafeEqual(expected, signature));
  }
  if (matches === 0) {
    throw new WebhookVerificationError(
      'signature-mismatch',
      'no signature matches: the secret is another one, or the body is not the bytes received',
    );
  }
  return parse(body);
}

function readHeader(
  headers: ReceivedWebhook['headers'],
  name: 'webhook-id' | 'webhook-timestamp' | 'webhook-signature',
): string {
  const value = headers instanceof Headers ? headers.get(name) : findHeader(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(name, `the header ${name} is missing`);
}

/** Node has header names in lower case; other servers have them as they came. */
function findHeader(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | undefined {
  const key = Object.keys(headers).find(candidate => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === 'string' || value === undefined ? value : value[0];
}

function readSignatures(header: string): Buffer[] {
  const parts = header.split(' ').slice(0, SIGNATURES_MAXIMUM);
  const signatures = parts
    .filter(part => part.startsWith(SIGNATURE_VERSION))
    .map(part => Buffer.from(part.slice(SIGNATURE_VERSION.length), 'base64'))
    .filter(signature => signature.length === SIGNATURE_BYTES);
  if (signatures.length > 0) return signatures;
  throw new WebhookVerificationError(
    'webhook-signature',
    'the header webhook-signature holds no signature of version v1',
  );
}

function checkTime(timestamp: string, toleranceSeconds: number, now: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError(
      'webhook-timestamp',
      'the header webhook-timestamp is no integer of Unix seconds',
    );
  }
  const ageSeconds = Math.floor(now / 1000) - Number(timestamp);
  if (Math.abs(ageSeconds) <= toleranceSeconds) return;
  const [failure, relation] =
    ageSeconds > 0
      ? (['timestamp-too-old', 'before'] as const)
      : (['timestamp-too-new', 'after'] as const);
  throw new WebhookVerificationError(
    failure,
    `it was sent ${Math.abs(ageSeconds)} s ${relation} now, but ${toleranceSeconds} s are allowed`,
  );
}

function parse(body: string | Uint8Array): WebhookEvent {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
  } catch {
    throw new WebhookVerificationError('body', 'the body is signed, but is not JSON');
  }
}
