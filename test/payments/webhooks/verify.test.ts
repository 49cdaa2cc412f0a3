import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type ReceivedWebhook,
  verifyWebhook,
  type WebhookFailure,
  WebhookVerificationError,
} from '#client/index.ts';
import { webhookHeaders } from '#signing/webhooks.ts';

/** The test vector of the Standard Webhooks libraries. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  now: () => 1_614_265_330_000,
} as const;
const SIGNATURE = VECTOR.headers['webhook-signature'];

function failureOf(change: Partial<ReceivedWebhook>): WebhookFailure {
  try {
    verifyWebhook({ ...VECTOR, ...change });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.failure;
    throw error;
  }
  throw new Error('it was accepted');
}

const withHeaders = (headers: Record<string, string | undefined>) =>
  failureOf({ headers: { ...VECTOR.headers, ...headers } });

test('a body that a framework has parsed is refused in words', () => {
  const body = JSON.parse(VECTOR.body);
  expect(failureOf({ body })).toBe('body');
  expect(() => verifyWebhook({ ...VECTOR, body })).toThrow('raw bytes');
});

describe('the published vector', () => {
  test('is what we sign', () => {
    const message = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: '1614265330',
      body: VECTOR.body,
    };
    expect(webhookHeaders([VECTOR.secret], message)).toEqual(VECTOR.headers);
  });

  test('verifies in every form in which a server may have it', () => {
    const { headers } = VECTOR;
    const id = headers['webhook-id'];
    const raw: ReceivedWebhook['headers'] = { ...headers, 'webhook-id': [id], host: 'a' };
    const named = {
      'Webhook-Id': id,
      'WEBHOOK-TIMESTAMP': '1614265330',
      'Webhook-Signature': SIGNATURE,
    };
    for (const form of [headers, new Headers(headers), raw, named]) {
      expect(verifyWebhook({ ...VECTOR, headers: form })).toEqual({ test: 2432232314 });
    }
    expect(verifyWebhook({ ...VECTOR, body: Buffer.from(VECTOR.body) })).toEqual({
      test: 2432232314,
    });
    expect(verifyWebhook({ ...VECTOR, secret: VECTOR.secret.slice(6) })).toBeDefined();
  });
});

test('one of several signatures and one of several secrets is enough', () => {
  const other = `whsec_${randomBytes(32).toString('base64')}`;
  const forged = `v1,${randomBytes(32).toString('base64')}`;
  const signature = `v1a,abc ${forged} ${SIGNATURE} v2,x`;
  const headers = { ...VECTOR.headers, 'webhook-signature': signature };
  const { secret, ...webhook } = VECTOR;
  expect(verifyWebhook({ ...webhook, headers, secrets: [other, secret] })).toBeDefined();
  expect(failureOf({ headers, secret: other })).toBe('signature-mismatch');
});

test('the error says which part failed', () => {
  expect(withHeaders({ 'webhook-id': undefined })).toBe('webhook-id');
  expect(withHeaders({ 'webhook-timestamp': '' })).toBe('webhook-timestamp');
  expect(withHeaders({ 'webhook-timestamp': '1614265330.5' })).toBe('webhook-timestamp');
  expect(withHeaders({ 'webhook-signature': undefined })).toBe('webhook-signature');
  expect(withHeaders({ 'webhook-signature': 'v2,abc' })).toBe('webhook-signature');
  expect(withHeaders({ 'webhook-signature': 'v1,abc' })).toBe('webhook-signature');
  expect(withHeaders({ 'webhook-id': 'msg_other' })).toBe('signature-mismatch');
  expect(withHeaders({ 'webhook-timestamp': '1614265331' })).toBe('signature-mismatch');
  expect(failureOf({ body: VECTOR.body.replace(' ', '') })).toBe('signature-mismatch');
  // A body that is not signed by us is never parsed, so it may be no JSON.
  expect(failureOf({ body: '{' })).toBe('signature-mismatch');
  const message = { id: 'a', timestamp: '1614265330', body: '{' };
  expect(failureOf({ body: '{', headers: webhookHeaders([VECTOR.secret], message) })).toBe('body');
});

test('300 seconds either way pass, 301 fail', () => {
  const at = (seconds: number) => ({ now: () => VECTOR.now() + seconds * 1000 });
  for (const seconds of [-300, 300]) {
    expect(verifyWebhook({ ...VECTOR, ...at(seconds) })).toBeDefined();
  }
  expect(failureOf(at(301))).toBe('timestamp-too-old');
  expect(failureOf(at(-301))).toBe('timestamp-too-new');
  expect(failureOf({ ...at(11), toleranceSeconds: 10 })).toBe('timestamp-too-old');
});

test('an invalid secret is the caller’s mistake', () => {
  for (const secret of [undefined, 'whsec_', '', 'whsec_not base64!', 'mps_0123456789abcde!']) {
    expect(() => verifyWebhook({ ...VECTOR, secret })).toThrow(TypeError);
  }
});
