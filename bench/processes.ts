import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort, launchRedis } from '../test/helpers/redis-server.ts';
import type { Resources } from './resources.ts';
import { CPU_PROFILE_DIRECTORY, POOL_SIZE } from './settings.ts';

/** A server under test, in a separate process. */
export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
}

/** The service, with the port of its metrics and health. */
export interface ServiceProcess extends ServerProcess {
  readonly monitoringPort: number;
}

interface ServiceOptions {
  /** Arguments for Node.js. */
  readonly nodeArguments?: readonly string[];
  /** Arguments for the script. */
  readonly scriptArguments?: readonly string[];
  /** Environment variables besides those of every service. */
  readonly env?: Readonly<Record<string, string>>;
  /** The tree to run; by default this one. */
  readonly root?: string;
}

interface ServerOptions extends Omit<ServiceOptions, 'env'> {
  /** Names its CPU profile. */
  readonly name: string;
  /** Path below the root of the tree. */
  readonly script: string;
  readonly env: Record<string, string>;
  /** The variable that sets the port that serves /readyz; by default PORT. */
  readonly portVariable?: 'PORT' | 'METRICS_PORT';
  /** Whether the process is the service itself, and gets a CPU profile if profiles are wanted. */
  readonly profiled?: boolean;
}

const ROOT = join(import.meta.dirname, '..');
/** The longest that a server may take until it is ready, and to stop, in milliseconds. */
const START_MS = 30_000;
const END_MS = 30_000;
/** How often a starting server is asked whether it is ready, in milliseconds. */
const POLL_MS = 20;

/** Where the service keeps its state; without Redis, nonces are in PostgreSQL. */
export interface ServiceState {
  readonly databaseUrl: string;
  readonly masterKey: string;
  readonly redisUrl?: string;
}

/** A production environment with a rate limit that counts but is out of reach. */
export function serviceEnvironment(state: ServiceState): Record<string, string> {
  return {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    RATE_LIMIT_MAX: '100000000',
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    DATABASE_URL: state.databaseUrl,
    MASTER_KEY: state.masterKey,
    PUBLIC_URL: 'https://pay.example.test',
    ...(state.redisUrl === undefined ? {} : { REDIS_URL: state.redisUrl }),
  };
}

/** Starts the API; the script's argument `--with-worker` adds the worker. */
export async function startService(
  resources: Resources,
  name: string,
  state: ServiceState,
  options: ServiceOptions = {},
): Promise<ServiceProcess> {
  const monitoringPort = await freePort();
  const server = await startServer(resources, {
    name,
    script: 'src/server.ts',
    profiled: true,
    ...options,
    env: { ...serviceEnvironment(state), METRICS_PORT: String(monitoringPort), ...options.env },
  });
  return { ...server, monitoringPort };
}

/** Starts a worker that may deliver webhooks to local addresses, which production refuses. */
export function startWorker(
  resources: Resources,
  state: ServiceState,
  options: Pick<ServiceOptions, 'root'> = {},
): Promise<ServerProcess> {
  return startServer(resources, {
    ...options,
    name: 'worker',
    script: 'src/worker.ts',
    env: { ...serviceEnvironment(state), NODE_ENV: 'test' },
    portVariable: 'METRICS_PORT',
    profiled: true,
  });
}

/** Starts a server, waits until it is ready, and defers its end to that of the resources. */
export async function startServer(
  { signal, defer }: Resources,
  options: ServerOptions,
): Promise<ServerProcess> {
  const { name, script, env, portVariable = 'PORT', profiled = false, root = ROOT } = options;
  const { nodeArguments = [], scriptArguments = [] } = options;
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
  // The service writes its whole log; /dev/null takes the disk out of the comparison.
  const child = spawn(
    process.execPath,
    [...nodeArguments, ...profile, join(root, script), ...scriptArguments],
    {
      cwd: root,
      env: { PATH: process.env.PATH, ...env, [portVariable]: String(port) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  defer(async () => {
    child.kill('SIGTERM');
    const late = sleep(END_MS, undefined, { ref: false });
    await Promise.race([ended, late.then(() => child.kill('SIGKILL'))]);
    await ended;
  });
  const giveUpAt = Date.now() + START_MS;
  while (!(await isReady(port))) {
    signal.throwIfAborted();
    if (child.exitCode !== null) throw new Error(`${name} ended with status ${child.exitCode}`);
    if (Date.now() > giveUpAt) throw new Error(`${name} is not ready on port ${port}`);
    await sleep(POLL_MS);
  }
  return { port, pid: child.pid ?? Number.NaN };
}

async function isReady(port: number): Promise<boolean> {
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

/** Starts a Redis server without persistence. */
export async function startRedis({ signal, defer }: Resources): Promise<string> {
  const redis = await launchRedis(await freePort());
  if (signal.aborted) await redis.stop();
  signal.throwIfAborted();
  defer(() => redis.stop());
  return redis.url;
}

/** The process ID of a Redis server. */
export async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}
