import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guardedConnector, type Resolve } from '../../src/outbound/guarded-connector.ts';
import { problemOf } from '../../src/webhooks/attempt-problem.ts';
import { sendWebhook } from '../../src/webhooks/send.ts';

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

/** A server with a certificate of its own that ends so many days from now. */
function secureServer(days: number): Promise<number> {
  const [key, cert] = [join(folder, 'key'), join(folder, `cert${days}`)];
  const until = new Date(Date.now() + days * 86_400_000).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=shop'];
  execFileSync(
    'openssl',
    ['req', '-x509', ...made, '-keyout', key, '-out', cert, '-not_before', '20200101000000Z', '-not_after', until],
    { stdio: 'ignore' },
  );
  return listen(createHttps({ key: readFileSync(key), cert: readFileSync(cert) }));
}

/** What an attempt to a URL fails with. */
async function attempt(
  url: string,
  { resolve, allowPrivateAddresses = true }: { resolve?: Resolve; allowPrivateAddresses?: boolean } = {},
) {
  const connect = guardedConnector({
    ...{ allowPrivateAddresses, timeoutMs: 2_000 },
    ...(resolve === undefined ? {} : { resolve }),
  });
  const { signal } = new AbortController();
  const webhook = { url, headers: {}, body: '{}' };
  const outcome = await sendWebhook(webhook, { connect, now: new Date(), signal, timeoutMs: 200 });
  return { problem: problemOf({ ...outcome, status_code: outcome.statusCode }), ...outcome };
}
