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
 * This folder holds the service as it is deployed: its real processes, with what stands around them
 * (a balancer, PgBouncer, a standby).
 */

export interface ServiceProcess {
  /** Where it listens; a worker listens nowhere. */
  readonly url: string;
  readonly port: number;
  /** Lines of its log, parsed, newest last. */
  readonly logs: Record<string, unknown>[];
  /** Ends it in an orderly way, or by another signal; resolves with its exit status. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const ROOT = join(import.meta.dirname, '../..');
/** Longest a process may take until it can serve, in milliseconds. */
const START_MS = 40_000;
/** Longest that a response may take, in milliseconds: no request takes longer than ten seconds. */
const RESPONSE_MS = 15_000;
/** Longest that a request is sent again, in milliseconds. */
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
    // Nobody asks it; without one the service warns.
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
 * @param root Where its sources are, if it is of another release.
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

/** Starts a worker; what it is given to do waits until it is there. */
export function startWorker(env: Record<string, string>): ServiceProcess {
  return launch('src/worker.ts', env, 0);
}

/** Runs a process until it ends by itself; answers its exit status, its log, and what it told on standard error. */
export async function failToStart(
  env: Record<string, string>,
  script: 'src/server.ts' | 'src/worker.ts' = 'src/server.ts',
) {
  const launched = launch(script, env, await freePort());
  const status = await Promise.race([launched.exited, sleep(START_MS, 'still running')]);
  await launched.stop('SIGKILL');
  // A fatal line is flushed, and may overtake one whose write is under way.
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
 * Sends a request again, signed anew, while the answer is that nothing was executed: where the machine stands still
 * for a second or two, a claim of a nonce takes longer than it may. Not for what has to be refused.
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
 * What processes have logged as a warning or worse, but for what took too long: for that it is enough that the machine
 * stands still for a few seconds. Where something never answers, the requests of a test tell.
 */
export function complaints(processes: readonly ServiceProcess[]): { msg: unknown; err: unknown }[] {
  return processes
    .flatMap(({ logs }) => logs)
    .filter(({ level }) => ['warn', 'error', 'fatal'].includes(String(level)))
    .map(({ msg, err }) => ({ msg, err }))
    .filter(({ err }) => !isOfDelay(err as { message?: unknown } | undefined));
}

/** Whether an error is a limit of time of ioredis, pg, PostgreSQL, PgBouncer or the service. */
const isOfDelay = (error?: { message?: unknown }) =>
  /timed? ?out|took too long/.test(String(error?.message));
