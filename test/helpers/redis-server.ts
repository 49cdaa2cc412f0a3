import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

export interface TestRedis {
  readonly url: string;
  stop(): Promise<void>;
}

export interface LaunchedRedis extends TestRedis {
  /** For signals: SIGSTOP makes it hang. */
  readonly pid: number;
}

/** Why tests that need Redis are skipped, for their names. */
export const REDIS_MISSING = 'needs Redis: apt-get install redis-server, or set REDIS_URL';

/** Starts a Redis server without persistence, or uses the one that REDIS_URL names; undefined without either. */
export async function startTestRedis(): Promise<TestRedis | undefined> {
  const configured = process.env.REDIS_URL;
  if (!configured && spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const server = configured
    ? { url: configured, stop: async () => {} }
    : await launchRedis(await freePort());
  await trustNonces(server.url);
  return server;
}

/** Marks the server as having kept every nonce forever: tests share it, and their clocks differ. */
async function trustNonces(url: string): Promise<void> {
  const redis = new Redis(url);
  const [, history = ''] = /^master_replid:(\w+)/m.exec(await redis.info('replication')) ?? [];
  await redis.hset('mp:nonce:store', { 'history:single': history, 'kept:single': 0 });
  redis.disconnect();
}

/** Starts a Redis server on a port of 127.0.0.1, with a configuration file if given. */
export async function launchRedis(
  port: number,
  settings: readonly string[] = [],
  file?: string,
): Promise<LaunchedRedis> {
  const server = spawn(
    'redis-server',
    [
      ...(file === undefined ? [] : [file]),
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      ...settings,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(server, 'exit');
  let isReady = false;
  for await (const line of server.stdout) {
    isReady = String(line).includes('Ready to accept connections');
    if (isReady) break;
  }
  if (!isReady) throw new Error(`Redis ended before it was ready, on port ${port}`);
  server.stdout.resume();
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: server.pid ?? 0,
    async stop() {
      server.kill('SIGKILL');
      await exited;
      // The port is free again only when the kernel has noticed.
      await sleep(10);
    },
  };
}

/** Ports per Vitest worker, so that no two workers get the same port before either uses it. */
const RANGE = 1_200;
const FIRST = 10_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 8) * RANGE;
let next = randomInt(RANGE);

/**
 * A port of 127.0.0.1 that was free a moment ago, and stays so until it is used. It is below the ports that
 * Linux gives to connections and to servers on any port (32768 and up), and to the embedded
 * database (20000 and up), and is not returned again before all others of this worker were.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % RANGE);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
