import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Credentials, signingHeaders } from '#client/index.ts';
import { QUICK_START } from '../helpers/compile-cache.ts';
import { freePort } from '../helpers/redis-server.ts';

/**
 * This folder tests the service as it is deployed: its real processes, with what surrounds them
 * (a balancer, PgBouncer, a standby).
 */

export interface ServiceProcess {
  /** The URL of an API; a worker has none. */
  readonly url: string;
  readonly port: number;
  /** Parsed log lines, newest last. */
  readonly logs: Record<string, unknown>[];
  /** Stops it gracefully, or with another signal; resolves with its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const ROOT = join(import.meta.dirname, '../..');
/** The longest that a process may take until it can serve, in milliseconds. */
const START_MS = 40_000;
/** The longest that a response may take, in milliseconds: no request takes longer than ten seconds. */
const RESPONSE_MS = 15_000;
/** How long a request is retried, in milliseconds. */
const PATIENCE_MS = 20_000;

/** The environment of processes that share their state. */
export function serviceEnvironment(
  databaseUrl: string,
  masterKey: Buffer,
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    NODE_ENV: 'test',
    LOG_LEVEL: 'info',
    // Never called; without a processor the service warns.
    PROCESSOR: 'stripe',
    STRIPE_SECRET_KEY: 'sk_test_unused',
    STRIPE_WEBHOOK_SECRET: 'whsec_unused',
    RATE_LIMIT_MAX: '1000000',
    ...QUICK_START,
    DATABASE_URL: databaseUrl,
    MASTER_KEY: masterKey.toString('base64'),
    ...more,
  };
}

/**
 * Starts a replica of the API and waits until it can serve.
 * @param root Path of its sources, if it is another release.
 */
export async function startReplica(
  env: Record<string, string>,
  port?: number,
  root = ROOT,
): Promise<ServiceProcess> {
  const replica = launch('src/server.ts', env, port ?? (await freePort()), root);
  const giveUpAt = Date.now() + START_MS;
  while (!(await isReady(replica.url))) {
    if (replica.ended() || Date.now() > giveUpAt) {
      await replica.stop('SIGKILL');
      const last = JSON.stringify(replica.logs.at(-1));
      throw new Error(`the API did not start: ${last} ${replica.told()}`);
    }
    await sleep(20);
  }
  return replica;
}

/** Starts a worker; work for it waits until it has started. */
export function startWorker(env: Record<string, string>): ServiceProcess {
  return launch('src/worker.ts', env, 0);
}

/** Runs a process until it ends by itself; resolves with its exit status, its log, and its standard error. */
export async function failToStart(
  env: Record<string, string>,
  script: 'src/server.ts' | 'src/worker.ts' = 'src/server.ts',
) {
  const launched = launch(script, env, await freePort());
  const status = await Promise.race([launched.exited, sleep(START_MS, 'still running')]);
  await launched.stop('SIGKILL');
  // A fatal line is flushed, and may overtake one that is being written.
  const last = launched.logs.findLast(({ level }) => level === 'fatal') ?? launched.logs.at(-1);
  return { status, last, told: launched.told(), messages: launched.logs.map(({ msg }) => msg) };
}

function launch(script: string, env: Record<string, string>, port: number, root = ROOT) {
  const child = spawn(process.execPath, [join(root, script)], {
    env: { ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const logs: Record<string, unknown>[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', line => logs.push(JSON.parse(line)));
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => {
    told += chunk;
  });
  // The last lines may be read after the process has closed.
  const exited = Promise.all([once(child, 'close'), once(lines, 'close')]).then(
    ([[status]]): number | null => status,
  );
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    logs,
    exited,
    told: () => told,
    ended: () => child.exitCode !== null || child.signalCode !== null,
    stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    response => response.ok,
    () => false,
  );
}

export interface Call {
  readonly path: string;
  /** Makes it a POST. */
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  /** Headers of a request that was signed before. */
  readonly signed?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of the body.
export type Reply = { status: number; replayed: boolean; body: any };

/** Sends a signed request to a process, once. */
export async function call(
  { url }: { url: string },
  credentials: Credentials,
  { path, body, idempotencyKey = randomUUID(), signed }: Call,
): Promise<Reply> {
  const { method, headers, text } = sign(credentials, path, body);
  const response = await fetch(`${url}${path}`, {
    method,
    signal: AbortSignal.timeout(RESPONSE_MS),
    headers: {
      ...(signed ?? headers),
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }),
    },
    ...(text === undefined ? {} : { body: text }),
  });
  return {
    status: response.status,
    replayed: response.headers.get('idempotent-replayed') === 'true',
    body: await response.json(),
  };
}

/**
 * Retries a request, signed anew, while the response is that nothing was executed: if the machine stalls for a second
 * or two, a claim of a nonce exceeds its timeout. Not for requests that must be refused.
 */
export async function patiently(
  to: { url: string },
  credentials: Credentials,
  request: Omit<Call, 'signed'>,
): Promise<Reply> {
  const same = { idempotencyKey: randomUUID(), ...request };
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const reply = await call(to, credentials, same);
    const isRefused = reply.body.error?.errorCode === 'E5002';
    if (!isRefused || performance.now() > giveUpAt) return reply;
    await sleep(200);
  }
}

/** Signs a request without sending it. */
export function sign(credentials: Credentials, path: string, body?: unknown) {
  const method = body === undefined ? 'GET' : 'POST';
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = signingHeaders(credentials, { method, path, body: text, now: Date.now() });
  return { method, headers, text };
}

/**
 * Log entries of processes at level warning or above, except timeouts, for which a stall of the machine for a few
 * seconds suffices. If something never responds, the requests of a test show it.
 */
export function complaints(processes: readonly ServiceProcess[]): { msg: unknown; err: unknown }[] {
  return processes
    .flatMap(({ logs }) => logs)
    .filter(({ level }) => ['warn', 'error', 'fatal'].includes(String(level)))
    .map(({ msg, err }) => ({ msg, err }))
    .filter(({ err }) => !isOfDelay(err as { message?: unknown } | undefined));
}

/** Whether an error is a timeout of ioredis, pg, PostgreSQL, PgBouncer or the service. */
const isOfDelay = (error?: { message?: unknown }) =>
  /timed? ?out|took too long/.test(String(error?.message));
