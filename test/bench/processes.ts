import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, launchRedis } from '../helpers/redis-server.ts';
import type { Resources } from './resources.ts';
import { CPU_PROFILE_DIRECTORY, POOL_SIZE } from './settings.ts';

/** A server under test, in a process of its own. */
export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
}

interface ServerOptions {
  /** Names its CPU profile. */
  readonly name: string;
  /** Path below the root of the tree. */
  readonly script: string;
  readonly env: Record<string, string>;
  /** Whether it is the service itself, of which a CPU profile may be wanted. */
  readonly profiled?: boolean;
  /** Arguments for Node.js. */
  readonly nodeArguments?: readonly string[];
}

const ROOT = join(import.meta.dirname, '../..');
/** Longest a server may take to answer at first, and to end, in milliseconds. */
const START_MS = 30_000;
const END_MS = 30_000;

/** What the service keeps its state with; without Redis, nonces live in PostgreSQL. */
export interface ServiceState {
  readonly databaseUrl: string;
  readonly masterKey: string;
  readonly redisUrl?: string;
}

/** The environment of a production with limits that count but are out of reach. */
export function serviceEnvironment(state: ServiceState): Record<string, string> {
  return {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    RATE_LIMIT_MAX: '100000000',
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    DATABASE_URL: state.databaseUrl,
    MASTER_KEY: state.masterKey,
    ...(state.redisUrl === undefined ? {} : { REDIS_URL: state.redisUrl }),
  };
}

/** Starts the API without its worker. */
export function startService(
  resources: Resources,
  name: string,
  state: ServiceState,
  nodeArguments: readonly string[] = [],
): Promise<ServerProcess> {
  const env = serviceEnvironment(state);
  const script = 'src/server.ts';
  return startServer(resources, { name, script, env, profiled: true, nodeArguments });
}

/** Starts a server, waits until it answers on /readyz, and has it ended with the bench. */
export async function startServer(
  { signal, defer }: Resources,
  { name, script, env, profiled = false, nodeArguments = [] }: ServerOptions,
): Promise<ServerProcess> {
  const port = await freePort();
  const profile =
    profiled && CPU_PROFILE_DIRECTORY !== null
      ? [
          '--cpu-prof',
          `--cpu-prof-dir=${CPU_PROFILE_DIRECTORY}`,
          `--cpu-prof-name=${name}.cpuprofile`,
        ]
      : [];
  signal.throwIfAborted();
  // Its log costs what writing it costs; where it goes is not the service's business.
  const child = spawn(process.execPath, [...nodeArguments, ...profile, join(ROOT, script)], {
    env: { PATH: process.env.PATH, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  defer(async () => {
    child.kill('SIGTERM');
    const late = sleep(END_MS, undefined, { ref: false });
    await Promise.race([ended, late.then(() => child.kill('SIGKILL'))]);
    await ended;
  });
  const giveUpAt = Date.now() + START_MS;
  while (!(await answers(port))) {
    signal.throwIfAborted();
    if (child.exitCode !== null) throw new Error(`${name} ended with status ${child.exitCode}`);
    if (Date.now() > giveUpAt) throw new Error(`${name} does not answer on port ${port}`);
    await sleep(50);
  }
  return { port, pid: child.pid ?? Number.NaN };
}

async function answers(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
      signal: AbortSignal.timeout(END_MS),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Starts a Redis server that keeps nothing on disk. */
export async function startRedis({ signal, defer }: Resources): Promise<string> {
  const redis = await launchRedis(await freePort());
  if (signal.aborted) await redis.stop();
  signal.throwIfAborted();
  defer(() => redis.stop());
  return redis.url;
}
