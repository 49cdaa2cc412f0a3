import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { guardedConnector, type Resolve } from '#outbound/guarded-connector.ts';
import { problemOf } from '#payments/webhooks/attempt-problem.ts';
import { sendWebhook } from '#payments/webhooks/send.ts';

/** Long enough for a busy machine: only tests of a silent server wait that long. */
const PATIENCE_MS = 10_000;

let folder: string;
const servers: Server[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'certificates-'));
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A server with its own self-signed certificate for `localhost` that expires in `days`, and the certificate. */
async function secureServer(days: number): Promise<{ port: number; certificate: string }> {
  const file = (name: string) => join(folder, `${name}${days}`);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', ...key, '-subj', '/CN=localhost', '-keyout', file('key'), '-out', file('request'));
  const signed = ['-in', file('request'), '-signkey', file('key'), '-out', file('certificate')];
  openssl('x509', '-req', '-days', String(days), ...signed);
  const [privateKey, certificate] = ['key', 'certificate'].map(name =>
    readFileSync(file(name), 'utf8'),
  );
  const port = await listen(createHttps({ key: privateKey, cert: certificate }));
  return { port, certificate: certificate ?? '' };
}

/** The error of an attempt to a URL. */
async function attempt(
  url: string,
  {
    resolve,
    allowPrivateAddresses = true,
    timeoutMs = PATIENCE_MS,
  }: { resolve?: Resolve; allowPrivateAddresses?: boolean; timeoutMs?: number } = {},
) {
  const connect = guardedConnector({
    allowPrivateAddresses,
    timeoutMs: PATIENCE_MS,
    ...(resolve === undefined ? {} : { resolve }),
  });
  const { signal } = new AbortController();
  const webhook = { url, headers: {}, body: '{}' };
  const outcome = await sendWebhook(webhook, { connect, now: new Date(), signal, timeoutMs });
  return { problem: problemOf({ ...outcome, status_code: outcome.statusCode }), ...outcome };
}

const closing = () => createServer(socket => void socket.destroy());
const talking = () => createServer(socket => void socket.end('SMTP ready\r\n'));
/** A port that nobody listens on any more. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

test.each<[string, string, () => Promise<number>]>([
  ['a server that does not speak TLS', 'tls', () => listen(talking())],
  ['a server that hangs up', 'tls', () => listen(closing())],
])('%s at https:// is told as such', async (_, problem, start) => {
  expect(await attempt(`https://127.0.0.1:${await start()}/`)).toMatchObject({ problem });
});

test.each<[string, string, () => Promise<number>]>([
  ['a port that nobody listens at', 'closed-port', freePort],
  ['a server that hangs up', 'hung-up', () => listen(closing())],
  ['a server that does not speak HTTP', 'not-http', () => listen(talking())],
])('%s at http:// is told as such', async (_, problem, start) => {
  expect(await attempt(`http://127.0.0.1:${await start()}/`)).toMatchObject({ problem });
});

test('a server that does not respond is reported as such', async () => {
  const url = `http://127.0.0.1:${await listen(createServer(() => undefined))}/`;
  expect(await attempt(url, { timeoutMs: 100 })).toMatchObject({ problem: 'timeout' });
});

test.each<[string, string, string]>([
  ['that does not exist', 'no-name', 'ENOTFOUND'],
  ['without addresses', 'no-name', 'ENODATA'],
  ['whose name servers fail', 'name-server', 'ESERVFAIL'],
  ['whose name servers are silent', 'name-server', 'ETIMEOUT'],
  ['whose name servers are not there', 'name-server', 'ECONNREFUSED'],
])('a name %s is told as such', async (_, problem, code) => {
  // In the words of `dns.Resolver`.
  const resolve = () =>
    Promise.reject(Object.assign(new Error(`queryA ${code} shop.example`), { code }));
  expect(await attempt('https://shop.example/', { resolve })).toMatchObject({ problem });
});

test('addresses and URLs that no webhook may be sent to are reported as such', async () => {
  const resolve = () => Promise.resolve(['10.0.0.1']);
  const given = { resolve, allowPrivateAddresses: false };
  expect(await attempt('https://shop.example/', given)).toMatchObject({
    problem: 'private-address',
  });
  const problem = (error: string) => problemOf({ status_code: null, error });
  expect(problem('the URL is not https')).toBe('plain-http');
  expect(problem('the signing secret cannot be opened')).toBe('secret');
  expect(problem('connect EHOSTUNREACH 192.0.2.1:443')).toBe('unreachable');
  expect(problem('something new')).toBe('other');
});

describe('a certificate', () => {
  const trusted = getCACertificates();
  afterEach(() => setDefaultCACertificates(trusted));

  test('that is self-signed is reported as such', async () => {
    const { port } = await secureServer(1);
    expect(await attempt(`https://localhost:${port}/`)).toMatchObject({
      problem: 'certificate-unknown',
    });
  });

  test('for another name is reported as such', async () => {
    const { port, certificate } = await secureServer(2);
    setDefaultCACertificates([certificate]);
    expect(await attempt(`https://127.0.0.1:${port}/`)).toMatchObject({
      problem: 'certificate-name',
    });
  });

  test('that has expired is reported as such', async () => {
    const { port, certificate } = await secureServer(-1);
    setDefaultCACertificates([certificate]);
    expect(await attempt(`https://localhost:${port}/`)).toMatchObject({
      problem: 'certificate-expired',
    });
  });
});

test.each([
  [200, null],
  [204, null],
  [301, 'redirect'],
  [400, 'refused'],
  [401, 'not-authorized'],
  [403, 'not-authorized'],
  [404, 'not-found'],
  [405, 'not-found'],
  [410, 'gone'],
  [413, 'too-large'],
  [429, 'busy'],
  [500, 'broken'],
  [503, 'broken'],
])('a response of %i is %s', (status, problem) => {
  expect(problemOf({ status_code: status, error: null })).toBe(problem);
});
