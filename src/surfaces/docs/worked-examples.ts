import { createHash } from 'node:crypto';
import { KEY_ID_PREFIX, SECRET_PREFIX } from '#accounts/keys/manage-keys.ts';
import { canonicalHead, type SignedParts, signRequest } from '#signing/canonical.ts';
import { SECRET_PREFIX as WEBHOOK_SECRET_PREFIX, webhookHeaders } from '#signing/webhooks.ts';
import { CREATE_BODY } from '../api/v1/examples.ts';
import { EVENT_EXAMPLE } from './openapi/webhooks.ts';

/** The key of the signing examples: valid in form, but never issued. */
export const EXAMPLE_KEY_ID = `${KEY_ID_PREFIX}0123456789abcdef01234567`;
export const EXAMPLE_SECRET = `${SECRET_PREFIX}00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff`;

interface SignedExample extends Omit<SignedParts, 'body'> {
  readonly body: string;
  /** The canonical request. */
  readonly canonical: string;
  /** X-MP-SIGNATURE, computed by the function that verifies requests. */
  readonly signature: string;
}

// 2026-05-17T12:00:00Z
const once = { timestamp: '1779019200', nonce: '7c0e1f4a-3b52-4d6c-9a8e-5f1b2c3d4e5f' };

export const SIGNED_CREATE = sign({
  ...once,
  method: 'POST',
  path: '/external/v1/payments/prompt',
  body: JSON.stringify(CREATE_BODY),
});

export const SIGNED_LIST = sign({
  ...once,
  method: 'GET',
  path: '/external/v1/payments?limit=5&status=pending',
  body: '',
});

function sign(parts: Omit<SignedExample, 'canonical' | 'signature'>): SignedExample {
  const signed = { ...parts, body: Buffer.from(parts.body) };
  return {
    ...parts,
    canonical: canonicalHead(parts) + parts.body,
    signature: signRequest(EXAMPLE_SECRET, signed).toString('hex'),
  };
}

/** The secret of the webhook example: valid in form, but never issued. */
export const EXAMPLE_WEBHOOK_SECRET =
  WEBHOOK_SECRET_PREFIX + createHash('sha256').update('a worked example').digest('base64');

const { id, type, data } = EVENT_EXAMPLE;
const message = {
  id,
  // 2026-05-17T12:04:32Z
  timestamp: '1779019472',
  // Short enough to print on one line.
  body: JSON.stringify({ id, type, data: { id: data.id, status: data.status } }),
};

/** A webhook with the headers that the service sends. */
export const SIGNED_WEBHOOK = {
  ...message,
  headers: webhookHeaders([EXAMPLE_WEBHOOK_SECRET], message),
};
