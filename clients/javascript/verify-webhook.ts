import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import type { DepositEventType, PaymentEventType, UnmatchedDeposit } from '#schemas/event.ts';
import type { PaymentSnapshot } from '#schemas/payment.ts';
import { readWebhookSecret, signWebhook } from '#signing/webhooks.ts';

interface Envelope {
  /** The same in every delivery of the event: store it to act on the event only once. */
  readonly id: string;
  readonly object: 'event';
  readonly createdAt: string;
}

/** The body of a webhook about a payment. `data` is the payment as it was at the event. */
export interface PaymentWebhookEvent extends Envelope {
  readonly type: PaymentEventType;
  readonly data: PaymentSnapshot;
}

/** The body of a webhook about a deposit that no payment took. */
export interface DepositWebhookEvent extends Envelope {
  readonly type: DepositEventType;
  readonly data: UnmatchedDeposit;
}

/** The body of a webhook; its `type` says what `data` is. */
export type WebhookEvent = PaymentWebhookEvent | DepositWebhookEvent;

export interface ReceivedWebhook {
  /** Exactly the bytes that were received. */
  readonly body: string | Uint8Array;
  /** Headers of fetch or of node:http. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…`, as shown at its creation. */
  readonly secret?: string | undefined;
  /** Several secrets, of which one has to match. */
  readonly secrets?: readonly string[] | undefined;
  /** Largest difference between the webhook's timestamp and now, in seconds. Default: 300. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
}

/** Part of a webhook that is invalid: a header, the time, the signature or the body. */
export type WebhookFailure =
  | 'webhook-id'
  | 'webhook-timestamp'
  | 'timestamp-too-old'
  | 'timestamp-too-new'
  | 'webhook-signature'
  | 'signature-mismatch'
  | 'body';

/** The webhook must not be processed: respond with 400 and do nothing. */
export class WebhookVerificationError extends Error {
  readonly failure: WebhookFailure;

  constructor(failure: WebhookFailure, message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.failure = failure;
  }
}

export const TOLERANCE_SECONDS = 300;
const SIGNATURE_VERSION = 'v1,';
const SIGNATURE_BYTES = 32;
/** More signatures than a rotation produces; any others are ignored. */
const SIGNATURES_MAXIMUM = 16;

/**
 * Verifies a webhook (Standard Webhooks), then parses it. The same event may be delivered more than once.
 *
 * @throws WebhookVerificationError when the service did not send it, or not within toleranceSeconds.
 * @throws TypeError for a missing or invalid secret.
 */
export function verifyWebhook(webhook: ReceivedWebhook): WebhookEvent {
  const { body, headers, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now } = webhook;
  const keys = [webhook.secret ?? [], webhook.secrets ?? []].flat().map(readWebhookSecret);
  if (keys.length === 0) throw new TypeError('verifyWebhook needs a secret');

  const id = readHeader(headers, 'webhook-id');
  const timestamp = readHeader(headers, 'webhook-timestamp');
  const signatures = readSignatures(readHeader(headers, 'webhook-signature'));
  checkTime(timestamp, toleranceSeconds, now());
  refuseParsed(body);

  let matches = 0;
  for (const key of keys) {
    const expected = signWebhook(key, { id, timestamp, body });
    // Compares every pair, so that the time does not depend on which one matches.
    for (const signature of signatures) matches += Number(timingSafeEqual(expected, signature));
  }
  if (matches === 0) {
    throw new WebhookVerificationError(
      'signature-mismatch',
      'no signature matches: the secret is wrong, or the body is not exactly the bytes received',
    );
  }
  return parse(body);
}

/** A body that a framework has parsed cannot be verified: written anew, it differs from what was signed. */
function refuseParsed(body: unknown): void {
  if (typeof body === 'string' || body instanceof Uint8Array) return;
  throw new WebhookVerificationError(
    'body',
    'the body is not the raw bytes that were received: pass those, before a framework parses them',
  );
}

function readHeader(
  headers: ReceivedWebhook['headers'],
  name: 'webhook-id' | 'webhook-timestamp' | 'webhook-signature',
): string {
  const value = headers instanceof Headers ? headers.get(name) : findHeader(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(name, `the header ${name} is missing`);
}

/** node:http has header names in lower case; other servers keep them as received. */
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
    'the header webhook-signature has no signature of version v1',
  );
}

function checkTime(timestamp: string, toleranceSeconds: number, now: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError(
      'webhook-timestamp',
      'the header webhook-timestamp is not an integer of Unix seconds',
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
