import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type ClientOptions,
  createClient,
  PaymentsApiError,
  PaymentsConnectionError,
} from '#client/index.ts';
import { signRequest } from '#signing/canonical.ts';
import { freePort } from '../../helpers/redis-server.ts';
import { BARE, failure, KEYED, READ, RETRY_CASES } from './retry-cases.ts';
import {
  type Answer,
  CREDENTIALS,
  type ScriptedServer,
  startScriptedServer,
} from './scripted-server.ts';

const CREATED: Answer = { status: 201, body: { prompt: { id: '1' }, checkoutUrl: 'https://c' } };

let server: ScriptedServer;
let pauses: number[];
let now: number;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());
beforeEach(() => {
  pauses = [];
  now = 1_800_000_000_000;
});

/** A client whose pauses take no time but advance its clock. */
const client = (options: Partial<ClientOptions> = {}) =>
  createClient({
    ...CREDENTIALS,
    baseUrl: server.url,
    now: () => now,
    sleep: async milliseconds => {
      pauses.push(milliseconds);
      now += milliseconds;
    },
    ...options,
  });

const header = (name: string) => server.received.map(({ headers }) => headers[name]);

describe('each attempt', () => {
  test('is signed again under the same idempotency key', async () => {
    server.script(failure(503, true), failure(409, true, 5), CREATED);
    await client().createPayment({ amount: 5000 }, { idempotencyKey: 'order 7' });

    expect(server.received).toHaveLength(3);
    expect(new Set(header('idempotency-key'))).toEqual(new Set(['order 7']));
    expect(new Set(header('x-mp-nonce')).size).toBe(3);
    expect(new Set(server.received.map(({ body }) => body))).toEqual(new Set(['{"amount":5000}']));
    expect(Number(header('x-mp-timestamp')[2])).toBeGreaterThanOrEqual(1_800_000_005);
    for (const { method, path, headers, body } of server.received) {
      const signature = signRequest('mps_1', {
        timestamp: String(headers['x-mp-timestamp']),
        nonce: String(headers['x-mp-nonce']),
        method,
        path,
        body: Buffer.from(body),
      });
      expect(headers['x-mp-signature']).toBe(signature.toString('hex'));
      expect(headers['x-mp-key-id']).toBe('mpk_1');
      expect(headers['x-mp-passphrase']).toBe('pass');
      expect(headers['content-type']).toBe('application/json');
    }
  });

  test('of a create without a given key uses one random key', async () => {
    server.script(failure(503, true), CREATED, CREATED);
    const payments = client();
    await payments.createPayment({ amount: 5000 });
    await payments.createPayment({ amount: 5000 });
    const [first, again, other] = header('idempotency-key');
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });
});

describe('the pause before another attempt', () => {
  test('is what Retry-After says', async () => {
    server.script(failure(429, true, 7), failure(409, true, 5), failure(429, true, 60), CREATED);
    await client().createPayment({ amount: 5000 });
    expect(pauses).toEqual([7_000, 5_000, 60_000]);
  });

  test('doubles otherwise, half of it at random', async () => {
    server.script(
      failure(503, true),
      failure(503, true, 'Wed, 21 Oct 2026 07:28:00 GMT'),
      'reset',
      CREATED,
    );
    await client().createPayment({ amount: 5000 });
    expect(pauses).toHaveLength(3);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(250 * 2 ** index);
      expect(pause).toBeLessThanOrEqual(500 * 2 ** index);
    }
  });

  test('is never longer than a minute: the response is returned instead', async () => {
    server.script(failure(429, true, 61));
    const error = await client()
      .createPayment({ amount: 5000 })
      .catch(thrown => thrown);
    expect(error).toMatchObject({ status: 429, retryable: true, retryAfterSeconds: 61 });
    expect(pauses).toEqual([]);
  });
});

describe('another attempt', () => {
  test.each(RETRY_CASES)('%s: %j after %j: %s', async (_name, request, answer, retried) => {
    server.script(answer, CREATED);
    const response = await client().request(request);
    expect(server.received).toHaveLength(retried ? 2 : 1);
    expect(response.status).toBe(retried ? 201 : answer.status);
  });

  test('ends with the last response after maxAttempts', async () => {
    server.script(...Array(9).fill(failure(503, true)));
    expect((await client().request(KEYED)).status).toBe(503);
    expect(server.received).toHaveLength(4);
    server.script(...Array(9).fill(failure(503, true)));
    expect((await client({ maxAttempts: 1 }).request(KEYED)).status).toBe(503);
    expect(server.received).toHaveLength(1);
  });

  test('follows a broken connection for reads and keyed writes only', async () => {
    for (const request of [READ, KEYED]) {
      server.script('reset', CREATED);
      expect((await client().request(request)).status).toBe(201);
    }
    server.script('reset', CREATED);
    const error = await client()
      .request(BARE)
      .catch(thrown => thrown);
    expect(error).toBeInstanceOf(PaymentsConnectionError);
    expect(error.attempts).toBe(1);
    expect(server.received).toHaveLength(1);
    expect(pauses).toHaveLength(2);
  });

  test('is not made for a request that cannot be sent at all', async () => {
    server.script(CREATED);
    const unsendable = client().createPayment({ amount: 1 }, { idempotencyKey: 'a\nb' });
    await expect(unsendable).rejects.toThrow(TypeError);
    expect(server.received).toEqual([]);
    expect(pauses).toEqual([]);
  });
});

describe('no response', () => {
  test('in time is an error that names the request, not its query', async () => {
    server.script('hang', 'hang');
    const error = await client({ timeoutMs: 50, maxAttempts: 2 })
      .listPayments({ customerReferenceId: 'private' })
      .catch(thrown => thrown);
    expect(error).toBeInstanceOf(PaymentsConnectionError);
    expect(error).not.toBeInstanceOf(PaymentsApiError);
    expect(error).toMatchObject({ attempts: 2, cause: { name: 'TimeoutError' } });
    expect(error.message).toContain('GET /external/v1/payments got no answer');
    expect(error.message).not.toContain('private');
  });

  test('at all has the system error as its cause', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const error = await client({ baseUrl, maxAttempts: 1 })
      .activeBlockchains()
      .catch(thrown => thrown);
    expect(error).toMatchObject({
      name: 'PaymentsConnectionError',
      cause: { code: 'ECONNREFUSED' },
    });
    expect(JSON.stringify(error)).not.toContain('mps_1');
  });
});
