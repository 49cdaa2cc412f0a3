import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { signingHeaders } from '#client/index.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { QUICK_START } from '../helpers/compile-cache.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const LIST = '/external/v1/payments';

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A span in OTLP's JSON format. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Service {
  readonly port: number;
  /** Lines of its log. */
  readonly logs: Record<string, unknown>[];
  stop(): Promise<void>;
}

const masterKey = randomBytes(32);
const running: ChildProcessByStdio<null, Readable, null>[] = [];
let database: TestDatabase;
let shop: MerchantWithKey;
let collector: Server;
const exported: { path: string | undefined; body: string }[] = [];

beforeAll(async () => {
  database = await cloneDatabase();
  const keyring = createKeyring([masterKey]);
  const clock = Object.assign(() => Date.now(), { now: 0 });
  shop = await addMerchant({ db: database.db, clock, keyring });
  collector = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    exported.push({ path: request.url, body: Buffer.concat(chunks).toString() });
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  collector.closeAllConnections();
  collector.close();
  await database.drop();
});

const collectorUrl = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}/otlp/`;

/**
 * Reports, when the process ends, how many modules of OpenTelemetry it has loaded besides its API, which
 * prom-client installs.
 */
const CENSUS = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  let loaded = 0;
  registerHooks({ load(url, context, next) {
    if (/@opentelemetry\\/(?!api\\/)|@fastify\\/otel/.test(url)) loaded += 1;
    return next(url, context);
  } });
  process.on('exit', () => process.stdout.write('\\n' + JSON.stringify({ msg: 'census', loaded }) + '\\n'));
`)}`;

/** Hides one of its packages, as an installation without optional dependencies does. */
const WITHOUT_PACKAGE = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ resolve: (name, context, next) =>
    next(name.replace('@fastify/otel', '@not-installed/otel'), context) });
`)}`;

/** The service as in production, as a separate process. */
function spawnService(preloaded: string, env: Record<string, string>) {
  const child = spawn(process.execPath, ['--import', preloaded, `${ROOT}/src/server.ts`], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'test',
      ...QUICK_START,
      PORT: '0',
      DATABASE_URL: database.url,
      MASTER_KEY: masterKey.toString('base64'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  return child;
}

async function startService(env: Record<string, string>): Promise<Service> {
  const child = spawnService(CENSUS, env);
  const logs: Record<string, unknown>[] = [];
  createInterface(child.stdout).on('line', line => {
    if (line !== '') logs.push(JSON.parse(line));
  });
  const listening = /Server listening at http:\/\/127\.0\.0\.1:(\d+)/;
  const port = await vi.waitFor(
    () => {
      const [found] = logs.flatMap(({ msg }) => listening.exec(String(msg)) ?? []).slice(1);
      if (found === undefined) throw new Error('not listening yet');
      return Number(found);
    },
    { timeout: 40_000 },
  );
  return {
    port,
    logs,
    async stop() {
      // Gracefully, without first waiting for a balancer.
      child.kill('SIGINT');
      await once(child, 'close');
    },
  };
}

function ask(port: number, path: string, headers: Record<string, string> = {}): Promise<Response> {
  const signed = signingHeaders(shop, { method: 'GET', path, now: Date.now() });
  return fetch(`http://127.0.0.1:${port}${path}`, { headers: { ...signed, ...headers } });
}

const textOf = ({ attributes }: Span, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {}).at(0);

const censusOf = ({ logs }: Service) => logs.find(({ msg }) => msg === 'census')?.loaded;

// Concurrent with the others, which wait.
describe.concurrent('with a collector', () => {
  let service: Service;
  let spans: Span[];
  beforeAll(async () => {
    service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl() });
    const { port } = service;
    const traceparent = `00-${TRACE}-${PARENT}-01`;
    expect((await ask(port, `${LIST}?customerReferenceId=private`, { traceparent })).status).toBe(
      200,
    );
    expect((await ask(port, `${LIST}?limit=private`)).status).toBe(400);
    expect((await ask(port, LIST, { 'x-mp-signature': '0'.repeat(64) })).status).toBe(401);
    expect((await fetch(`http://127.0.0.1:${port}/checkout/private-token`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/private-path`)).status).toBe(404);
    // A graceful stop sends what is left.
    await service.stop();
    spans = exported.flatMap(({ body }) =>
      JSON.parse(body).resourceSpans.flatMap((resource: { scopeSpans: { spans: Span[] }[] }) =>
        resource.scopeSpans.flatMap(scope => scope.spans),
      ),
    );
  });

  test('spans reach the collector’s endpoint, from a service with a name', () => {
    expect(new Set(exported.map(({ path }) => path))).toEqual(new Set(['/otlp/v1/traces']));
    expect(exported[0]?.body).toContain('"service.name","value":{"stringValue":"eps-api"}');
    expect(censusOf(service)).toBeGreaterThan(10);
  });

  test('each request is one span with route, status and error code', () => {
    const shown = spans.map(span => [
      span.name,
      span.kind,
      textOf(span, 'http.route'),
      textOf(span, 'http.response.status_code'),
      textOf(span, 'error.type'),
    ]);
    const server = 2;
    expect(shown).toEqual([
      [`GET ${LIST}`, server, LIST, 200, undefined],
      [`GET ${LIST}`, server, LIST, 400, 'E1001'],
      [`GET ${LIST}`, server, LIST, 401, 'E2007'],
      ['GET /checkout/:token', server, '/checkout/:token', 404, 'E3001'],
      ['GET', server, undefined, 404, 'E3001'],
    ]);
    // No refusal is a failure of the service.
    expect(spans.map(({ status: { code } }) => code)).not.toContain(2);
  });

  test('a span belongs to the trace that was sent, or else to a new one', () => {
    expect(spans[0]).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
    const others = spans.slice(1);
    for (const { traceId, parentSpanId } of others) {
      expect(traceId).not.toBe(TRACE);
      expect(parentSpanId ?? '').toBe('');
    }
    const lines = service.logs.filter(({ msg }) => msg === 'request');
    expect(lines.map(({ traceId }) => traceId)).toEqual(spans.map(({ traceId }) => traceId));
    expect(lines.map(({ reqId }) => reqId)).toEqual(
      spans.map(span => textOf(span, 'eps.request_id')),
    );
  });

  test('spans contain neither paths nor queries nor messages', () => {
    expect(exported.map(({ body }) => body).join()).not.toContain('private');
    expect(spans.map(({ status: { message } }) => message)).toEqual(spans.map(() => undefined));
  });
});

// A graceful stop gives an unreachable collector five seconds; the other service runs meanwhile.
test.concurrent('an unreachable collector costs no request', async () => {
  const service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  expect((await ask(service.port, LIST)).status).toBe(200);
  await service.stop();
  const troubles = service.logs.filter(({ level = 'info' }) => level !== 'info');
  expect(new Set(troubles.map(({ msg }) => msg))).toContain('spans could not be sent');
  expect(troubles.filter(({ level }) => level !== 'warn')).toEqual([]);
});

test.concurrent('without a collector nothing of OpenTelemetry is loaded', async () => {
  const service = await startService({});
  expect((await ask(service.port, LIST)).status).toBe(200);
  await service.stop();
  expect(censusOf(service)).toBe(0);
});

test.concurrent('without its packages the service names what is missing', async () => {
  const child = spawnService(WITHOUT_PACKAGE, {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
  });
  const printed = text(child.stdout);
  const [status] = await once(child, 'exit');
  expect(status).toBe(1);
  expect(await printed).toContain(
    'OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages of OpenTelemetry are not installed: npm ci --include=optional brings them.',
  );
});
