import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';

/** Prefix of a webhook secret; the rest is the key in base64 (Standard Webhooks). */
export const SECRET_PREFIX = 'whsec_';

/** The signed parts of a message. */
export interface WebhookMessage {
  readonly id: string;
  /** Unix seconds, in decimal. */
  readonly timestamp: string;
  readonly body: string | Uint8Array;
}

/**
 * Decodes the key of a secret.
 * @throws TypeError unless it is base64.
 */
export function readWebhookSecret(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const key = Buffer.from(text, 'base64');
  // Buffer.from skips invalid characters, so compare with the key's own encoding.
  const exact = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (!exact || key.length === 0) {
    throw new TypeError(`a webhook secret is ${SECRET_PREFIX} and base64`);
  }
  return key;
}

/** HMAC-SHA256 over `id.timestamp.body`, 32 bytes. */
export function signWebhook(key: Buffer, { id, timestamp, body }: WebhookMessage): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}

/** The three Standard Webhooks headers of a message, with one signature per secret. */
export function webhookHeaders(
  secrets: readonly string[],
  message: WebhookMessage,
): Record<string, string> {
  const signatures = secrets.map(secret => {
    return `v1,${signWebhook(readWebhookSecret(secret), message).toString('base64')}`;
  });
  return {
    'webhook-id': message.id,
    'webhook-timestamp': message.timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
