import { createHmac } from 'node:crypto';

/** What a webhook secret begins with; the rest is the key in base64 (Standard Webhooks). */
export const SECRET_PREFIX = 'whsec_';

/** What is signed: the message's ID, the time it is sent and the bytes of its body. */
export interface WebhookMessage {
  readonly id: string;
  /** Unix seconds, in decimal. */
  readonly timestamp: string;
  readonly body: string | Uint8Array;
}

/**
 * The key of a secret.
 * @throws TypeError for a secret that is no base64.
 */
export function readWebhookSecret(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const key = Buffer.from(text, 'base64');
  // Buffer.from skips what is not base64, so only text that encodes back to itself counts.
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

/** The three headers of a message, with a signature for each of the secrets. */
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
