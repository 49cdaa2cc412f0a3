import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LoadPlan, type LoadResult, runLoad } from '../../bench/load.ts';
import { VoidRun } from '../../bench/measure.ts';
import { findWrk } from '../../bench/required-programs.ts';
import type { RequestToSend } from '../../bench/signed-requests.ts';

const MISSING = missing();

/** Why wrk cannot be run, for the names of skipped tests. */
function missing(): string | undefined {
  try {
    findWrk();
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const credentials = { keyId: 'mpk_1', secret: 'mps_1', passphrase: 'p' };
const HEADERS = { 'content-type': 'application/json' };

function traffic(): RequestToSend {
  const id = crypto.randomUUID();
  return { method: 'GET', path: `/external/v1/payments/${id}`, credentials, response: `G${id}` };
}

/** Payments and lists alternately. */
function mixed(): () => RequestToSend {
  let turn = 0;
  return () => {
    const request = traffic();
    if (turn++ % 2 === 0) return request;
    const id = idOf(request.path);
    return { ...request, path: `/external/v1/payments?startingAfter=${id}`, response: `L${id}` };
  };
}

const payment = (id: string) => JSON.stringify({ object: 'payment_prompt', id });

const idOf = (url = '') => url.slice(url.lastIndexOf('/') + 1);

const right: RequestListener = (request, response) => {
  response.writeHead(200, HEADERS).end(payment(idOf(request.url)));
};

/** Sends a second of load to a server. */
async function load(listener: RequestListener, plan: Partial<LoadPlan>): Promise<LoadResult> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const directory = await mkdtemp(join(tmpdir(), 'eps-load-'));
  try {
    return await runLoad(
      // Signing more than is sent takes CPU time from the loads that run concurrently.
      { port, traffic, connections: 2, seconds: 1, supply: 500, rate: 200, ...plan },
      { memory: directory, signal: new AbortController().signal, defer: () => undefined },
    );
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  }
}

describe.skipIf(MISSING !== undefined)(
  `load${MISSING === undefined ? '' : ` (${MISSING})`}`,
  () => {
    test('records the latencies of each window', async () => {
      const slow = 20;
      const answer: RequestListener = (request, response) => {
        setTimeout(() => right(request, response), slow);
      };
      const { windows } = await load(answer, { seconds: 2, rate: 50, windowSeconds: 0.5 });
      expect(windows.length).toBeGreaterThanOrEqual(2);
      for (const { kind, p50, p99 } of windows) {
        expect(kind).toBe('G');
        // The clocks of the two agree to a millisecond.
        expect(p50).toBeGreaterThan(slow - 2);
        expect(p99).toBeGreaterThanOrEqual(p50);
      }
      // What stalls the machine makes one or two windows slow, but not all of them.
      expect(Math.min(...windows.map(({ p50 }) => p50))).toBeLessThan(20 * slow);
    });

    test('records the latencies of payments and of lists separately', async () => {
      const slow = 50;
      const answer: RequestListener = (request, response) => {
        const list = request.url?.split('startingAfter=')[1];
        if (list === undefined) return right(request, response);
        const body = `{"object":"list","data":[${payment(list)}],"hasMore":true}`;
        setTimeout(() => response.writeHead(200, HEADERS).end(body), slow);
      };
      const plan = { traffic: mixed(), connections: 10, rate: 100, windowSeconds: 0.5 };
      const { windows, payments, lists } = await load(answer, { seconds: 2, ...plan });
      // There are a hundred of each, minus what a busy machine does not manage.
      expect(payments).toBeGreaterThan(20);
      expect(lists).toBeGreaterThan(20);
      const medians = (wanted: string) =>
        windows.filter(({ kind }) => kind === wanted).map(({ p50 }) => p50);
      expect(medians('L').length).toBeGreaterThanOrEqual(2);
      expect(medians('G').length).toBeGreaterThanOrEqual(2);
      expect(Math.min(...medians('L'))).toBeGreaterThan(slow - 2);
      expect(Math.min(...medians('G'))).toBeLessThan(slow / 2);
    });

    // These measure no times, or only lower bounds, so they may run concurrently.
    test.concurrent('measures a request that waited for a connection from when it was due', async () => {
      const slow = 100;
      const answer: RequestListener = (request, response) => {
        setTimeout(() => right(request, response), slow);
      };
      // One connection carries a fifth of the load, so each request waits longer than the last.
      const plan = { connections: 1, rate: 50, windowSeconds: 1 };
      const { windows } = await load(answer, { seconds: 3, ...plan });
      // Without that it is about one response time; the exact value depends on how soon the load began.
      expect(windows.at(-1)?.p50).toBeGreaterThan(3 * slow);
    });

    test.concurrent('sends each request once and counts its response', async () => {
      const asked: string[] = [];
      const nonces = new Set<unknown>();
      const result = await load(
        (request, response) => {
          asked.push(idOf(request.url));
          nonces.add(request.headers['x-mp-nonce']);
          right(request, response);
        },
        { exact: true },
      );
      expect(result.payments).toBe(result.requests);
      expect(result.requests).toBeGreaterThan(0);
      expect(new Set(asked).size).toBe(asked.length);
      expect(nonces.size).toBe(asked.length);
      expect(result.exhausted).toBe(false);
      expect(result.windows).toEqual([]);
    });

    test.concurrent('reports when there were not enough requests', async () => {
      // Two connections ask for one each, however long a busy machine takes for responses.
      const result = await load(right, { supply: 1 });
      expect(result.exhausted).toBe(true);
    });

    test.concurrent.each([
      ['a payment nobody asked for', payment(crypto.randomUUID())],
      ['something else', '{}'],
    ])('is void by %s', async (_what, body) => {
      const answer: RequestListener = (_request, response) => {
        response.writeHead(200, HEADERS).end(body);
      };
      await expect(load(answer, {})).rejects.toThrow(VoidRun);
    });

    test.concurrent('is void by the response to a previous request, where that can be detected', async () => {
      let last: string | undefined;
      const answer: RequestListener = (request, response) => {
        const id = idOf(request.url);
        response.writeHead(200, HEADERS).end(payment(last ?? id));
        last = id;
      };
      await expect(load(answer, { exact: true })).rejects.toThrow(VoidRun);
    });

    const refuse =
      (headers: Record<string, string>): RequestListener =>
      (_request, response) => {
        response.writeHead(503, { ...HEADERS, ...headers }).end('{}');
      };

    test.concurrent('counts a refusal separately where it is permitted', async () => {
      const { shed, requests } = await load(refuse({ 'Retry-After': '1' }), { mayShed: true });
      expect(requests).toBeGreaterThan(0);
      expect(shed).toBe(requests);
    });

    test.concurrent('is void by a refusal where none is permitted', async () => {
      await expect(load(refuse({ 'Retry-After': '1' }), {})).rejects.toThrow(VoidRun);
    });

    test.concurrent('is void by a refusal without a time to retry', async () => {
      await expect(load(refuse({}), { mayShed: true })).rejects.toThrow(VoidRun);
    });
  },
);
