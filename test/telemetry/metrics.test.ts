import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { listChains } from '#chains/chain-list.ts';
import { createPostgresNonces } from '#signing/postgres-nonces.ts';
import { insertDeposit } from '#storage/repositories/deposits/deposits.ts';
import { createMonitor, type Monitor } from '#telemetry/monitor.ts';
import { type MonitoringServer, serveMonitoring } from '#telemetry/monitoring-server.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { NO_CHANGE_FEED } from '../helpers/inert.ts';
// Registers its metrics, which a process has once the module is loaded.
import '#onchain/watching/metrics.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { addPayment } from '../helpers/payments.ts';
import { createPrompt, requestPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';
import { simulate } from '../helpers/simulate.ts';
import { SOON } from '../helpers/soon.ts';
import { type Receiver, startReceiver, status } from '../payments/webhooks/receiver.ts';
import { openShop } from '../payments/webhooks/shop.ts';
import { parseExposition, type ScrapedMetric, sumOf } from './exposition.ts';

const PROMPT = '/external/v1/payments/prompt';
const LIST = '/external/v1/payments';

let database: TestDatabase;
let service: TestApp;
let shop: MerchantWithKey;
let receiver: Receiver;
let monitor: Monitor;
let server: MonitoringServer;

beforeAll(async () => {
  [database, receiver] = await Promise.all([cloneDatabase(), startReceiver()]);
  service = await startTestApp({ database, env: { RATE_LIMIT_MAX: '30' } });
  shop = await addMerchant(service);
  const { db, databaseUrl: directUrl, clock } = service;
  monitor = createMonitor({
    readiness: createReadiness({ db, nonces: createPostgresNonces(db), clock }),
    pools: { main: db },
    api: { nonces: createPostgresNonces(db), changes: NO_CHANGE_FEED },
    worker: { directUrl, clock, log: { warn: () => undefined }, chains: listChains() },
  });
  server = await serveMonitoring(monitor, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await server.close();
  await monitor.close();
  await service.close();
  await receiver.close();
  await database.drop();
});

const ask = (path: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { method });

async function scrape(): Promise<Map<string, ScrapedMetric>> {
  const response = await ask('/metrics');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parseExposition(await response.text());
}

/** By how much a sample has grown. */
type Since = (name: string, labels?: Record<string, string>) => number;

/** Runs `act`, and checks by how much the counters grew meanwhile. */
async function over(act: () => Promise<unknown>, done: (since: Since) => void): Promise<void> {
  const before = await scrape();
  await act();
  // A request is counted when its connection has seen the end of the response.
  await vi.waitFor(async () => {
    const after = await scrape();
    done((name, labels) => sumOf(after, name, labels) - sumOf(before, name, labels));
  }, SOON);
}

test('GET /metrics and health are all there is', async () => {
  for (const path of ['/', '/metric', '/metrics/', '/external/v1/payments', '/constructor']) {
    expect((await ask(path)).status).toBe(404);
  }
  const posted = await ask('/metrics', 'POST');
  expect(posted.status).toBe(405);
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
  const head = await ask('/metrics', 'HEAD');
  expect(head.status).toBe(200);
  expect(await head.text()).toBe('');
  expect((await ask('/metrics?name[]=x')).status).toBe(200);
  expect(await (await ask('/healthz')).json()).toEqual({ status: 'ok' });
  const ready = await ask('/readyz');
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ status: 'ok', database: 'ok', nonces: 'ok' });
});

test('every metric is named and described as Prometheus recommends', async () => {
  const metrics = await scrape();
  expect(metrics.size).toBeGreaterThan(20);
  for (const { name, type, help, samples } of metrics.values()) {
    expect(name).toMatch(/^eps(_[a-z0-9]+)+$/);
    expect(help.length, name).toBeGreaterThan(10);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    // Base units only; the depth of a reorganisation is in blocks.
    expect(name).not.toMatch(/(milliseconds|_ms|minutes|hours|kilobytes)/);
    if (type === 'histogram') expect(name).toMatch(/_(seconds|depth)$/);
    for (const { labels } of samples) {
      for (const [label, value] of Object.entries(labels)) {
        expect(label).toMatch(/^[a-z][a-z_]*$/);
        expect(value, name).not.toMatch(/mp[ksc]_|[0-9a-f]{8}-[0-9a-f]{4}-/);
      }
    }
  }
});

test('no label names an account', async () => {
  const names = monitor.registry
    .getMetricsAsArray()
    .flatMap(metric => (metric as { labelNames?: string[] }).labelNames ?? []);
  expect(names).toContain('error_code');
  const naming = names.filter(name =>
    /merchant|partner|key|account|payment|endpoint|id$/.test(name),
  );
  expect([...new Set(naming)]).toEqual(['blockchain_id']);
});

describe('requests', () => {
  test('are counted by route, status and error code, and timed by route', async () => {
    const forged = { 'x-mp-signature': '0'.repeat(64) };
    await over(
      async () => {
        await createPrompt(service, shop, { amount: 5000 });
        await createPrompt(service, shop, { amount: 6000 });
        await send(service, shop, { path: LIST });
        await send(service, shop, { path: `${LIST}?limit=0` });
        await send(service, shop, { path: LIST, headers: forged });
        await service.app.inject({ url: '/nowhere' });
        await service.app.inject({ url: '/healthz' });
      },
      since => {
        const requests = 'eps_http_requests_total';
        const post = { method: 'POST', route: PROMPT };
        const list = { method: 'GET', route: LIST };
        expect(since(requests)).toBe(7);
        expect(since(requests, { ...post, status: '201', error_code: '' })).toBe(2);
        expect(since(requests, { ...list, status: '200', error_code: '' })).toBe(1);
        expect(since(requests, { ...list, status: '400', error_code: 'E1001' })).toBe(1);
        expect(since(requests, { ...list, status: '401', error_code: 'E2007' })).toBe(1);
        const missing = { method: 'GET', route: 'none', status: '404', error_code: 'E3001' };
        expect(since(requests, missing)).toBe(1);
        expect(since('eps_http_request_duration_seconds_count', post)).toBe(2);
        expect(since('eps_http_request_duration_seconds_count', list)).toBe(3);
        const all = { ...list, le: '+Inf' };
        expect(since('eps_http_request_duration_seconds_bucket', all)).toBe(3);
        expect(since('eps_http_request_duration_seconds_sum', post)).toBeGreaterThan(0);
      },
    );
  });

  test('with made-up methods and paths create no labels', async () => {
    const methods = ['PROPFIND', 'PURGE', 'REPORT'] as const;
    await over(
      async () => {
        for (const method of methods) {
          await service.app.inject({ method: method as 'GET', url: `/${crypto.randomUUID()}` });
        }
      },
      since => {
        expect(since('eps_http_requests_total')).toBe(methods.length);
        const made = { method: 'other', route: 'none' };
        expect(since('eps_http_requests_total', made)).toBe(methods.length);
      },
    );
  });

  test('that are replayed, or limited, are counted as such', async () => {
    const other = await addMerchant(service);
    const once = { 'idempotency-key': 'metrics' };
    await over(
      async () => {
        await createPrompt(service, other, { amount: 700 }, once);
        await createPrompt(service, other, { amount: 700 }, once);
        for (let sent = 2; sent < 33; sent++) await send(service, other, { path: LIST });
      },
      since => {
        expect(since('eps_idempotent_replays_total')).toBe(1);
        expect(since('eps_payments_created_total', { flow: 'crypto' })).toBe(1);
        expect(since('eps_rate_limited_total', { client: 'key' })).toBe(3);
        expect(since('eps_rate_limited_total')).toBe(3);
        expect(since('eps_http_requests_total', { error_code: 'E9001' })).toBe(3);
      },
    );
    service.clock.now += 60_000;
  });
});

describe('payments', () => {
  test('are counted by their moves and networks', async () => {
    const { db, rates } = service;
    const now = new Date(service.clock());
    await over(
      async () => {
        const paid = await createPrompt(service, shop, { amount: 5000, blockchainIds: ['btc'] });
        const failed = await createPrompt(service, shop, { amount: 5000, blockchainIds: ['eth'] });
        const ended = await createPrompt(service, shop, { amount: 5000 });
        await simulate({ db, rates }, paid.prompt.id, 'confirm', now);
        await simulate({ db, rates }, failed.prompt.id, 'revert', now);
        await service.app.inject({
          method: 'POST',
          url: `${new URL(ended.checkoutUrl).pathname}/cancel`,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          payload: '',
        });
      },
      since => {
        const moves = 'eps_payment_moves_total';
        const crypto = { flow: 'crypto' };
        const paid = { ...crypto, move: 'confirm', status: 'successful', blockchain_id: 'btc' };
        const failed = { ...crypto, move: 'fail', status: 'unsuccessful', blockchain_id: 'eth' };
        const ended = { ...crypto, move: 'cancel', status: 'cancelled', blockchain_id: 'none' };
        expect(since('eps_payments_created_total', crypto)).toBe(3);
        expect(since(moves, { move: 'detect', status: 'pending', blockchain_id: 'btc' })).toBe(1);
        expect(since(moves, paid)).toBe(1);
        expect(since(moves, failed)).toBe(1);
        expect(since(moves, ended)).toBe(1);
        expect(since(moves)).toBe(4);
      },
    );
  });

  test('whose creation is refused are not counted', async () => {
    await over(
      () => requestPrompt(service, shop, { amount: 5000, blockchainIds: ['tron'] }),
      since => {
        expect(since('eps_http_requests_total', { error_code: 'E1020' })).toBe(1);
        expect(since('eps_payments_created_total')).toBe(0);
      },
    );
  });
});

test('attempts at deliveries are counted by outcome', async () => {
  const notified = await openShop(database, service.clock());
  await notified.addEndpoint(receiver.url);
  await over(
    async () => {
      await notified.tell();
      receiver.answer = status(503);
      await notified.attemptAll();
      receiver.answer = status(204);
      await notified.attemptAll();
    },
    since => {
      const attempts = 'eps_webhook_attempts_total';
      expect(since(attempts, { outcome: 'retried', response: '5xx' })).toBe(1);
      expect(since(attempts, { outcome: 'succeeded', response: '2xx' })).toBe(1);
      expect(since(attempts)).toBe(2);
      expect(since('eps_webhook_attempt_duration_seconds_count')).toBe(2);
    },
  );
});

test('the state of pools, nonce store and change feed is reported correctly', async () => {
  const metrics = await scrape();
  expect(sumOf(metrics, 'eps_nonce_store_up', { kind: 'postgres' })).toBe(1);
  expect(sumOf(metrics, 'eps_account_changes_heard')).toBe(0);
  expect(sumOf(metrics, 'eps_http_requests_in_flight')).toBe(0);
  expect(sumOf(metrics, 'eps_database_pool_connections_limit', { pool: 'main' })).toBe(20);
  // Once the work that earlier tests have left is done.
  const connections = async (state: 'idle' | 'busy') =>
    sumOf(await scrape(), 'eps_database_pool_connections', { state });
  await expect.poll(() => connections('idle')).toBeGreaterThan(0);
  await service.db.connection().execute(async () => {
    expect(await connections('busy')).toBeGreaterThanOrEqual(1);
  });
});

describe('the backlog in the database', () => {
  /** Scrapes again: a monitor caches what it has read for ten seconds. */
  async function backlog(of: TestApp, url = of.databaseUrl) {
    const warnings: unknown[] = [];
    const { db, clock } = of;
    const fresh = createMonitor({
      readiness: createReadiness({ db }),
      pools: { main: db },
      worker: {
        directUrl: url,
        clock,
        log: { warn: (...line: unknown[]) => void warnings.push(line) },
        chains: listChains(),
      },
    });
    const metrics = parseExposition(await fresh.registry.metrics());
    const again = parseExposition(await fresh.registry.metrics());
    await fresh.close();
    return { metrics, again, warnings };
  }

  let own: TestDatabase;
  let quiet: TestApp;
  let merchant: MerchantWithKey;
  beforeAll(async () => {
    own = await cloneDatabase();
    quiet = await startTestApp({ database: own });
    merchant = await addMerchant(quiet);
  });
  afterAll(async () => {
    await quiet.close();
    await own.drop();
  });

  test('is empty at first', async () => {
    const { metrics } = await backlog(quiet);
    expect(sumOf(metrics, 'eps_backlog_readable')).toBe(1);
    for (const name of [
      'eps_payments_pending',
      'eps_payments_expiry_lag_seconds',
      'eps_webhook_deliveries_due',
      'eps_webhook_oldest_due_age_seconds',
      'eps_deposits_unmatched',
    ]) {
      expect({ name, value: sumOf(metrics, name) }).toEqual({ name, value: 0 });
    }
    expect(metrics.get('eps_payments_expiry_lag_seconds')?.samples).toHaveLength(2);
  });

  test('is counted, and its oldest is dated', async () => {
    const { db, keyring } = quiet;
    const now = quiet.clock();
    const ago = (seconds: number) => new Date(now - seconds * 1000);
    const pending = { created_at: ago(7_200), expires_at: ago(90) };
    await addPayment(db, merchant.merchant, pending);
    await addPayment(db, merchant.merchant, { ...pending, expires_at: ago(30) });
    await addPayment(db, merchant.merchant, {
      ...pending,
      blockchain_id: 'btc',
      address: ADDRESSES.btc,
      token_amount: 1n,
      token_decimals: 8,
      expires_at: ago(-600),
    });
    await insertDeposit(db, {
      id: crypto.randomUUID(),
      blockchain_id: 'btc',
      transaction_hash: 'ab'.repeat(32),
      position: 0,
      address: ADDRESSES.btc,
      token_amount: 5n,
      outcome: 'unknown',
      state: 'final',
      block_height: 1,
      observed_at: ago(60),
      updated_at: ago(60),
    });
    await createEndpoint(operatorOf(quiet), keyring, {
      merchantId: merchant.merchant.id,
      url: receiver.url,
      types: undefined,
      allowPrivateAddresses: true,
    });
    quiet.clock.now -= 45_000;
    await createPrompt(quiet, merchant, { amount: 5000 });
    quiet.clock.now += 45_000;

    const { metrics } = await backlog(quiet);
    const crypto_ = { flow: 'crypto' };
    const unchosen = { ...crypto_, blockchain_id: 'none' };
    expect(sumOf(metrics, 'eps_payments_pending', unchosen)).toBe(3);
    expect(sumOf(metrics, 'eps_payments_pending', { ...crypto_, blockchain_id: 'btc' })).toBe(1);
    expect(sumOf(metrics, 'eps_payments_expiry_lag_seconds', crypto_)).toBe(90);
    expect(sumOf(metrics, 'eps_payments_expiry_lag_seconds', { flow: 'regulated' })).toBe(0);
    expect(sumOf(metrics, 'eps_webhook_deliveries_due')).toBe(1);
    expect(sumOf(metrics, 'eps_webhook_oldest_due_age_seconds')).toBe(45);
    expect(sumOf(metrics, 'eps_deposits_unmatched')).toBe(1);
  });

  test('is left out while the database does not respond, and nothing else is', async () => {
    const { metrics, again, warnings } = await backlog(quiet, 'postgres://127.0.0.1:1/none');
    for (const scraped of [metrics, again]) {
      expect(sumOf(scraped, 'eps_backlog_readable')).toBe(0);
      expect(scraped.get('eps_webhook_deliveries_due')?.samples).toEqual([]);
      expect(scraped.get('eps_payments_expiry_lag_seconds')?.samples).toEqual([]);
      expect(scraped.get('eps_database_pool_waiting')?.samples).toHaveLength(1);
    }
    // One query each, for the backlog and for the chains: results are cached for ten seconds.
    expect(warnings).toHaveLength(2);
  });
});
