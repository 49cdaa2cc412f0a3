import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';
import { freePort, type LaunchedRedis, launchRedis } from './redis-server.ts';

/** Why tests that need Sentinel are skipped, for their names; null if it is installed. */
export const SENTINEL_MISSING =
  spawnSync('redis-sentinel', ['--version']).status === 0
    ? null
    : 'needs Sentinel: apt-get install redis-server redis-sentinel';

const NAME = 'mymaster';

/** A server that sentinels watch, with an operator's connection. */
export interface WatchedServer {
  readonly port: number;
  readonly server: LaunchedRedis;
  readonly operator: Redis;
}

export interface RedisWithSentinels {
  /** For REDIS_URL. */
  readonly url: string;
  /** The last one is never promoted. */
  readonly servers: readonly WatchedServer[];
  /** Sentinels, by the ports that REDIS_URL has. */
  readonly sentinels: readonly { readonly port: number; readonly operator: Redis }[];
  /** Whether all sentinels know the same master, and it has a replica. */
  isWhole(): Promise<boolean>;
  /** The master that most sentinels report. */
  master(): Promise<WatchedServer>;
  /** Restarts a server that was stopped; it believes that it is the master. */
  restart(server: WatchedServer): Promise<WatchedServer>;
  /** Makes the sentinels promote a replica, and waits until that is done. */
  failover(): Promise<void>;
  stop(): Promise<void>;
}

interface SentinelOptions {
  readonly password?: string;
  readonly sentinelPassword?: string;
  readonly sentinelCount?: number;
  /** down-after-milliseconds */
  readonly downAfterMs?: number;
}

/** Starts a master, two replicas and three sentinels on 127.0.0.1, and waits until they know each other. */
export async function startRedisWithSentinels({
  password = '',
  sentinelPassword = '',
  sentinelCount = 3,
  downAfterMs = 400,
}: SentinelOptions = {}): Promise<RedisWithSentinels> {
  const directory = await mkdtemp(join(tmpdir(), 'eps-redis-sentinel-'));
  async function launch(port: number, settings: readonly string[] = []): Promise<WatchedServer> {
    const server = await launchRedis(port, [
      ...['--dir', directory, '--dbfilename', `${port}.rdb`, '--repl-diskless-sync-delay', '0'],
      ...(password === '' ? [] : ['--requirepass', password, '--masterauth', password]),
      ...settings,
    ]);
    return { port, server, operator: connect(port, password) };
  }
  async function launchSentinel(masterPort: number) {
    const port = await freePort();
    const file = join(directory, `${port}.conf`);
    const lines = [
      ...[`port ${port}`, 'bind 127.0.0.1', `dir ${directory}`],
      `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} ${Math.ceil((sentinelCount + 1) / 2)}`,
      `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
      `sentinel failover-timeout ${NAME} ${Math.max(1_000, 2 * downAfterMs)}`,
      `sentinel parallel-syncs ${NAME} 2`,
      ...(password === '' ? [] : [`sentinel auth-pass ${NAME} ${password}`]),
      ...(sentinelPassword === ''
        ? []
        : [`requirepass ${sentinelPassword}`, `sentinel sentinel-pass ${sentinelPassword}`]),
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    const child = spawn('redis-sentinel', [file], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    const operator = connect(port, sentinelPassword);
    const stop = async () => {
      operator.disconnect();
      child.kill('SIGKILL');
      await exited;
    };
    return { port, operator, stop };
  }

  const first = await launch(await freePort());
  const replicaOf = ['--replicaof', '127.0.0.1', String(first.port)];
  const servers = [
    first,
    await launch(await freePort(), replicaOf),
    await launch(await freePort(), [...replicaOf, '--replica-priority', '0']),
  ];
  const online = async () =>
    ((await first.operator.info('replication')).match(/state=online/g) ?? []).length;
  // A replica that a sentinel misses at first is discovered only ten seconds later.
  await eventually(async () => (await online()) === 2);
  const sentinels = await Promise.all(
    Array.from({ length: sentinelCount }, () => launchSentinel(first.port)),
  );
  const fieldOf = async (operator: Redis, field: string) => {
    const fields = (await operator.call('SENTINEL', 'MASTER', NAME)) as string[];
    return fields[fields.indexOf(field) + 1] ?? '';
  };
  async function isWhole(): Promise<boolean> {
    const views = await Promise.all(
      sentinels.map(async ({ operator }) =>
        Promise.all(
          ['port', 'num-slaves', 'num-other-sentinels', 'flags'].map(name =>
            fieldOf(operator, name),
          ),
        ),
      ),
    );
    const [port] = views[0] ?? [];
    const same = views.every(
      view =>
        view[0] === port &&
        Number(view[1]) >= 2 &&
        Number(view[2]) === sentinelCount - 1 &&
        view[3] === 'master',
    );
    if (!same) return false;
    const master = servers.find(each => String(each.port) === port);
    if (master === undefined) return false;
    const replication = await master.operator.info('replication');
    return (replication.match(/state=online/g) ?? []).length >= 1;
  }
  await eventually(isWhole);

  async function master(): Promise<WatchedServer> {
    const ports = await Promise.all(sentinels.map(({ operator }) => fieldOf(operator, 'port')));
    const [port] = ports.toSorted((a, b) => count(ports, b) - count(ports, a));
    const found = servers.find(each => String(each.port) === port);
    if (found === undefined) throw new Error('no master');
    return found;
  }

  const user = password === '' ? '' : `:${password}@`;
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const auth = sentinelPassword === '' ? '' : `&sentinel_password=${sentinelPassword}`;
  return {
    url: `redis://${user}${hosts}?mode=sentinel&name=${NAME}${auth}`,
    servers,
    sentinels,
    isWhole,
    master,
    async restart(server) {
      server.operator.disconnect();
      const again = await launch(server.port);
      servers[servers.indexOf(server)] = again;
      return again;
    },
    async failover() {
      const before = await master();
      await eventually(async () => {
        const told = await sentinels[0]?.operator
          .call('SENTINEL', 'FAILOVER', NAME)
          .catch(() => '');
        return told === 'OK';
      });
      await eventually(async () => (await master()).port !== before.port);
    },
    async stop() {
      for (const { operator } of servers) operator.disconnect();
      await Promise.all(
        [...sentinels, ...servers.map(({ server }) => server)].map(each => each.stop()),
      );
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function connect(port: number, password: string): Redis {
  const operator = new Redis(port, '127.0.0.1', {
    ...(password === '' ? {} : { password }),
    retryStrategy: () => 50,
  });
  return operator.on('error', () => undefined);
}

function count(all: readonly string[], one: string): number {
  return all.filter(each => each === one).length;
}
