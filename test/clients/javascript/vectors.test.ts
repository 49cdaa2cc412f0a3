import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  signingHeaders,
  verifyWebhook,
  type WebhookFailure,
  WebhookVerificationError,
} from '#client/index.ts';
import { SIGNING_VECTORS } from '#signing/vectors/index.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { CREATE_VECTOR } from '../../signing/vector.ts';

/** Every way in which a webhook can fail but the last: a signed body that is no JSON is unrelated to signatures. */
const FAILURES: readonly WebhookFailure[] = [
  ...(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const),
  ...(['timestamp-too-old', 'timestamp-too-new', 'signature-mismatch'] as const),
];

let service: TestApp;
let served: typeof SIGNING_VECTORS;

beforeAll(async () => {
  service = await startTestApp();
  const answer = await service.app.inject({ url: '/signing-vectors.json' });
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    etag: expect.stringMatching(/^"sha512-\S+"$/),
  });
  served = answer.json();
});
afterAll(() => service.close());

test('the service serves the examples that its own code generates', () => {
  expect(served).toEqual(SIGNING_VECTORS);
});

test('each has a name of its own', () => {
  const names = [...served.requests, ...served.webhooks].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('one is the example that was made without this code base', () => {
  const [creation] = served.requests;
  const { keyId, secret, timestamp, nonce, method, path, body, signature } = CREATE_VECTOR;
  expect(creation).toMatchObject({
    given: { keyId, secret, timestamp: Number(timestamp), nonce, method, path, body },
    expected: { signature },
  });
});

test('all ways in which a webhook can fail are covered', () => {
  const failures = new Set(served.webhooks.map(({ expected }) => expected.failure));
  expect([...failures].toSorted()).toEqual([undefined, ...FAILURES].toSorted());
});

describe('the request', () => {
  test.each(SIGNING_VECTORS.requests)('$name', ({ given, expected }) => {
    const { secret, timestamp, body } = given;
    const signature = createHmac('sha256', secret).update(expected.canonical).digest('hex');
    expect(expected.signature).toBe(signature);
    const headers = signingHeaders(given, { ...given, body, now: timestamp * 1000 + 999 });
    const byName = Object.entries(expected.headers).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]);
    expect(headers).toEqual(Object.fromEntries(byName));
  });
});

describe('the webhook', () => {
  test.each(SIGNING_VECTORS.webhooks)('$name', ({ given, expected }) => {
    const verify = (body: string | Uint8Array) =>
      verifyWebhook({ ...given, body, now: () => given.now * 1000 });
    for (const body of [given.body, Buffer.from(given.body)]) {
      if (expected.valid) {
        expect(verify(body)).toEqual(JSON.parse(given.body));
        continue;
      }
      const { failure } = expected;
      expect(() => verify(body)).toThrow(WebhookVerificationError);
      expect(() => verify(body)).toThrow(expect.objectContaining({ failure }));
    }
  });
});
