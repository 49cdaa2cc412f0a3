import { expect, test } from 'vitest';
import { freePort } from '../helpers/redis-server.ts';
import { failure, KEYED, READ, RETRY_CASES } from './javascript/retry-cases.ts';
import { type Answer, CREDENTIALS } from './javascript/scripted-server.ts';
import type { Library } from './library.ts';

const CREATED: Answer = { status: 201, body: { prompt: { id: '1' }, checkoutUrl: 'https://c' } };

/** How a library retries and handles responses, on a scripted server. */
export function describeAttempts(library: Library): void {
  test('signs every attempt again under the same idempotency key', async () => {
    library.server.script(failure(503, true), failure(409, true, 5), CREATED);
    const { error, pauses } = await library.calls.scripted('create', {
      payment: { amount: 5000 },
      idempotencyKey: 'order 7',
    });
    expect(error).toBeUndefined();
    expect(library.server.received).toHaveLength(3);
    expect(new Set(library.header('idempotency-key'))).toEqual(new Set(['order 7']));
    expect(new Set(library.header('x-mp-nonce')).size).toBe(3);
    expect(new Set(library.header('x-mp-signature')).size).toBe(3);
    expect(new Set(library.header('content-type'))).toEqual(new Set(['application/json']));
    expect(new Set(library.server.received.map(({ body }) => body))).toEqual(
      new Set(['{"amount":5000}']),
    );
    const [first, , last] = library.header('x-mp-timestamp').map(Number);
    expect(Number(last) - Number(first)).toBeGreaterThanOrEqual(5);
    expect(pauses[0]).toBeGreaterThanOrEqual(250);
    expect(pauses[0]).toBeLessThanOrEqual(500);
    expect(pauses[1]).toBe(5_000);
  });

  test('gives each creation without a key a key of its own', async () => {
    library.server.script(failure(503, true), CREATED, CREATED);
    await library.calls.scripted('create', { payment: { amount: 5000 } });
    await library.calls.scripted('create', { payment: { amount: 5000 } });
    const [first, again, other] = library.header('idempotency-key');
    expect(first).toMatch(/^[0-9a-f-]{32,36}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('retries what cannot execute twice, and nothing else', async () => {
    for (const [name, request, answer, retried] of RETRY_CASES) {
      library.server.script(answer, CREATED);
      const { result } = await library.calls.scripted<{ status: number }>('request', request);
      const [sent, status] = retried ? [2, 201] : [1, answer.status];
      const got = [name, answer, library.server.received.length, result?.status];
      expect(got).toEqual([name, answer, sent, status]);
    }
  });

  test('retries what got no response, and counts the attempts', async () => {
    for (const request of [READ, KEYED]) {
      library.server.script('reset', CREATED);
      expect((await library.calls.scripted('request', request)).result).toEqual({ status: 201 });
      expect(new Set(library.header('x-mp-nonce')).size).toBe(2);
    }
    const url = `http://127.0.0.1:${await freePort()}`;
    const { error } = await library.calls.scripted(
      'list',
      { query: { customerReferenceId: 'private' } },
      { url, maxAttempts: 2 },
    );
    expect(error).toMatchObject({ kind: 'connection', attempts: 2 });
    expect(error?.message).toMatch(/^GET \S*\/external\/v1\/payments got no answer/);
    expect(error?.message).toMatch(/connection refused|failed to connect to/i);
    expect(JSON.stringify(error)).not.toContain('private');
    library.server.script('hang');
    const slow = await library.calls.scripted(
      'get',
      { id: '1' },
      { timeoutMs: 100, maxAttempts: 1 },
    );
    expect(slow.error).toMatchObject({ kind: 'connection', attempts: 1 });
  });

  test('does every retry itself, also on a reused connection', async () => {
    library.server.script({ status: 200 }, 'reset', { status: 200 });
    await library.calls.scripted('request', READ);
    expect((await library.calls.scripted('request', READ)).result).toEqual({ status: 200 });
    expect(library.server.received).toHaveLength(3);
    expect(new Set(library.header('x-mp-nonce')).size).toBe(3);
  });

  test('waits for at most a minute, and otherwise returns the response', async () => {
    library.server.script(failure(429, true, 60), failure(429, true, 61));
    const { error, pauses } = await library.calls.scripted('get', { id: '1' });
    expect(error).toMatchObject({ status: 429, retryable: true, retryAfterSeconds: 61 });
    expect(pauses).toEqual([60_000]);
  });

  test('treats any body of a proxy as an error', async () => {
    for (const body of ['<html>Bad gateway</html>', '', 'null', '[]', '{"error":{"code":7}}']) {
      library.server.script({ status: 502, headers: { 'x-request-id': 'proxy-1' }, body });
      const { error } = await library.calls.scripted('get', { id: '1' }, { maxAttempts: 1 });
      expect(error).toMatchObject({
        status: 502,
        message: 'HTTP 502',
        code: '',
        errorCode: '',
        requestId: 'proxy-1',
        retryable: false,
      });
    }
    library.server.script({ status: 200, body: '<html>Welcome to the hotel</html>' });
    const { error } = await library.calls.scripted('get', { id: '1' });
    expect(error).toMatchObject({ status: 200, message: expect.stringContaining('not JSON') });
  });

  test('follows no redirect', async () => {
    library.server.script({
      status: 302,
      headers: { location: `${library.server.url}/elsewhere` },
    });
    expect((await library.calls.scripted('get', { id: '1' })).error).toMatchObject({ status: 302 });
    expect(library.server.received).toHaveLength(1);
  });

  test('sends the prefix of a proxy, and does not sign it', async () => {
    const given = { ...CREDENTIALS, kind: 'request', method: 'GET', body: '' };
    for (const prefix of ['', '/', '/gateway/pay', '/gateway/pay/', '/g%C3%A4te', '/gäte']) {
      library.server.script({ status: 200 });
      await library.calls.scripted('get', { id: 'a/b?c #ä' }, { url: library.server.url + prefix });
      const path = library.server.received[0]?.path ?? '';
      const own = encodeURI(decodeURI(prefix)).replace(/\/$/, '');
      expect(path.startsWith(`${own}/external/v1/payments/`)).toBe(true);
      expect(decodeURIComponent(path.slice(own.length))).toBe('/external/v1/payments/a/b?c #ä');
      const signed = await library.driver.ask<{ headers: Record<string, string> }>({
        ...given,
        path: path.slice(own.length),
        timestamp: Number(library.header('x-mp-timestamp')[0]),
        nonce: library.header('x-mp-nonce')[0],
      });
      expect(library.header('x-mp-signature')[0]).toBe(signed.headers['X-MP-SIGNATURE']);
    }
  });

  test('rejects what cannot be sent before sending', async () => {
    library.server.script(CREATED);
    const order = { payment: { amount: 5000 }, idempotencyKey: 'a\nb' };
    expect((await library.calls.scripted('create', order)).error).toMatchObject({
      kind: 'argument',
    });
    for (const url of [
      'payments.example.com',
      'ftp://a.example',
      'https://u@a.example',
      `${library.server.url}?a`,
    ]) {
      const { error } = await library.calls.scripted('get', { id: '1' }, { url });
      expect([url, error?.kind]).toEqual([url, 'argument']);
    }
    const passphrase = 'not-for-logs\n';
    const { error } = await library.calls.scripted('get', { id: '1' }, { passphrase });
    expect(error).toBeDefined();
    expect(JSON.stringify(error)).not.toContain('not-for-logs');
    expect(library.server.received).toEqual([]);
  });
}
