import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { NONCE_BUCKETS, type NonceBucket } from '#signing/nonce-buckets.ts';
import { eventually } from './eventually.ts';
import { freePort, type LaunchedRedis, launchRedis } from './redis-server.ts';

const SLOTS = 16_384;
/** cluster-node-timeout while servers get to know each other; the shorter it is, the sooner they do. */
const FORMING_MS = 400;

/** A server of a cluster, with an operator's connection. */
export interface ClusterNode {
  readonly id: string;
  readonly port: number;
  readonly server: LaunchedRedis;
  readonly operator: Redis;
}

export interface RedisCluster {
  /** For REDIS_URL. */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  /** The master that serves a bucket, as seen by a live server. */
  masterOf(bucket: NonceBucket): Promise<ClusterNode>;
  /** The replicas of a master. */
  replicasOf(master: ClusterNode): Promise<ClusterNode[]>;
  /** Restarts a server that was stopped. */
  restart(node: ClusterNode): Promise<ClusterNode>;
  /** Sets cluster-node-timeout of the running servers, and of those that are restarted. */
  setNodeTimeout(milliseconds: number): Promise<void>;
  /** Moves the slot of a bucket with its keys to another master; `between` runs when half of the keys are moved. */
  move(bucket: NonceBucket, to: ClusterNode, between?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

interface ClusterOptions {
  readonly masters?: number;
  readonly replicas?: number;
  readonly password?: string;
  /**
   * cluster-node-timeout once the cluster is formed, in milliseconds. A machine that stalls for so long causes a
   * failover.
   */
  readonly nodeTimeoutMs?: number;
}

/** Starts a cluster on 127.0.0.1, masters first, and waits until it is formed. */
export async function startRedisCluster({
  masters = 3,
  replicas = 1,
  password = '',
  nodeTimeoutMs = 5_000,
}: ClusterOptions = {}): Promise<RedisCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'eps-redis-cluster-'));
  let timeoutMs = FORMING_MS;
  const settings = (port: number) => [
    ...[
      '--dir',
      directory,
      '--dbfilename',
      `${port}.rdb`,
      '--cluster-enabled',
      'yes',
      '--cluster-config-file',
      `${port}.conf`,
    ],
    ...['--cluster-node-timeout', String(timeoutMs), '--cluster-require-full-coverage', 'no'],
    // A server that knows no other does not know its own address.
    ...['--cluster-announce-ip', '127.0.0.1'],
    // A replica that lags must be promoted all the same.
    ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
    ...(password === '' ? [] : ['--requirepass', password, '--masterauth', password]),
  ];
  const busPorts = new Map<number, number>();
  async function launch(port: number): Promise<ClusterNode> {
    const busPort = busPorts.get(port) ?? (await freePort());
    busPorts.set(port, busPort);
    const server = await launchRedis(port, [...settings(port), '--cluster-port', String(busPort)]);
    const operator = new Redis(port, '127.0.0.1', { password, protocol: 2 });
    operator.on('error', () => undefined);
    return { id: String(await operator.cluster('MYID')), port, server, operator };
  }
  const ports = await Promise.all(Array.from({ length: masters * (1 + replicas) }, freePort));
  const nodes = await Promise.all(ports.map(launch));

  const heads = nodes.slice(0, masters);
  await Promise.all(
    nodes.map(async ({ operator }, index) => {
      await operator.cluster('SET-CONFIG-EPOCH', index + 1);
      if (index >= masters) return;
      const [from, to] = [index, index + 1].map(part => Math.round((part * SLOTS) / masters));
      await operator.call('CLUSTER', 'ADDSLOTSRANGE', from ?? 0, (to ?? 0) - 1);
    }),
  );
  const [first] = nodes;
  if (first === undefined) throw new Error('a cluster without servers');
  for (const { port } of nodes.slice(1)) {
    await first.operator.call('CLUSTER', 'MEET', '127.0.0.1', port, busPorts.get(port) ?? 0);
  }
  const linesOf = async ({ operator }: ClusterNode) =>
    String(await operator.cluster('NODES'))
      .trim()
      .split('\n');
  const everyoneKnows = (count: number, text: RegExp) =>
    eventually(async () => {
      const views = await Promise.all(nodes.map(linesOf));
      return views.every(view => view.filter(line => text.test(line)).length === count);
    });
  await everyoneKnows(nodes.length, /connected( |$)/);
  await Promise.all(
    nodes
      .slice(masters)
      .map(({ operator }, index) =>
        operator.cluster('REPLICATE', heads[index % masters]?.id ?? ''),
      ),
  );
  await everyoneKnows(nodes.length - masters, / (myself,)?slave /);
  await eventually(async () => {
    const infos = await Promise.all(
      nodes.map(async ({ operator }) => [
        await operator.info('replication'),
        await operator.cluster('INFO'),
      ]),
    );
    return infos.every(
      ([replication = '', state]) =>
        /cluster_state:ok/.test(String(state)) &&
        (/role:master/.test(replication) || /master_link_status:up/.test(replication)),
    );
  });

  async function setNodeTimeout(milliseconds: number): Promise<void> {
    timeoutMs = milliseconds;
    const living = nodes.filter(({ operator }) => operator.status === 'ready');
    await Promise.all(
      living.map(({ operator }) => operator.config('SET', 'cluster-node-timeout', milliseconds)),
    );
  }
  await setNodeTimeout(nodeTimeoutMs);

  const find = (id: string | undefined) => {
    const node = nodes.find(each => each.id === id);
    if (node === undefined) throw new Error(`no server ${id}`);
    return node;
  };
  /** The newest view: that of the server with the highest epoch. */
  async function view(): Promise<string[][]> {
    const views = await Promise.allSettled(
      nodes.filter(({ operator }) => operator.status === 'ready').map(linesOf),
    );
    const lines = views
      .filter(result => result.status === 'fulfilled')
      .map(({ value }) => value.map(line => line.split(' ')));
    const epoch = (fields: string[][]) => Math.max(...fields.map(([, , , , , , e]) => Number(e)));
    return lines.toSorted((a, b) => epoch(b) - epoch(a))[0] ?? [];
  }
  const holds = (range: string, slot: number) => {
    const [from = '', to = from] = range.split('-');
    return Number(from) <= slot && slot <= Number(to);
  };

  async function masterOf({ slot }: NonceBucket): Promise<ClusterNode> {
    const line = (await view()).find(
      ([, , flags = '', , , , , , ...ranges]) =>
        flags.includes('master') && ranges.some(range => holds(range, slot)),
    );
    return find(line?.[0]);
  }

  return {
    url: `redis://${password === '' ? '' : `:${password}@`}${nodes
      .slice(0, 3)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(',')}?mode=cluster`,
    nodes,
    masterOf,
    async replicasOf({ id }) {
      const lines = (await view()).filter(([, , , master]) => master === id);
      return lines.map(([replica]) => find(replica));
    },
    async restart(node) {
      node.operator.disconnect();
      const again = await launch(node.port);
      nodes[nodes.indexOf(node)] = again;
      return again;
    },
    setNodeTimeout,
    async move(bucket, to, between) {
      const from = await masterOf(bucket);
      const { slot } = bucket;
      await to.operator.cluster('SETSLOT', slot, 'IMPORTING', from.id);
      await from.operator.cluster('SETSLOT', slot, 'MIGRATING', to.id);
      const keys = await from.operator.cluster('GETKEYSINSLOT', slot, 1_000_000);
      const auth = password === '' ? [] : ['AUTH', password];
      const migrate = async (some: readonly unknown[]) => {
        if (some.length === 0) return;
        const target = ['127.0.0.1', to.port, '', 0, 5_000, ...auth, 'KEYS'];
        await from.operator.call('MIGRATE', ...[...target, ...some].map(String));
      };
      const half = Math.ceil(keys.length / 2);
      await migrate(keys.slice(0, half));
      await between?.();
      // Keys that were claimed meanwhile may be on either server.
      for (;;) {
        const left = await from.operator.cluster('GETKEYSINSLOT', slot, 1_000);
        if (left.length === 0) break;
        await migrate(left);
      }
      for (const node of [to, from, ...nodes]) {
        if (node.operator.status !== 'ready') continue;
        await node.operator.cluster('SETSLOT', slot, 'NODE', to.id).catch(() => undefined);
      }
    },
    async stop() {
      for (const { operator } of nodes) operator.disconnect();
      await Promise.all(nodes.map(({ server }) => server.stop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A key ID for each bucket. */
export function keyIdsOfBuckets(): string[] {
  return NONCE_BUCKETS.map(
    (_, index) => `mpk_${'0'.repeat(18)}${index.toString(16).padStart(6, '0')}`,
  );
}
