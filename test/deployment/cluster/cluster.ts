import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { chooseAccount } from '#runtime/development/postgres-process.ts';
import { serverRoot } from '../../helpers/database-server.ts';
import { startTcpProxy } from '../../helpers/tcp-proxy.ts';
import { Machine, type Program } from './machine.ts';
import { Member } from './member.ts';
import { findPostgres } from './programs.ts';

/** The longest that the cluster may take to reach a state, in milliseconds. */
const PATIENCE_MS = 120_000;
/** Each check costs every Patroni a query. */
const POLL_MS = 200;
/** How much a primary has written beyond its standbys: more than Patroni's own limit of 1 MiB. */
const OUTRUN_BYTES = 4 * 1024 * 1024;
/** Lines of each Patroni that an error shows. */
const LINES_SHOWN = 100;
/** What Patroni says of each look that found everything as it was. */
const NOTHING_NEW = / INFO: (no action|Lock owner)/;
/**
 * Why Patroni restarts a crashed primary in place on a host that stalls: the standby, or its PostgreSQL, did not respond
 * in two seconds, or it was cut off for so long that it is no synchronous one any more.
 */
const STANDBY_AWAY = / (is not reachable|does not report wal_position|members list is empty)/;

export interface ClusterOptions {
  readonly members: 2 | 3;
  /** Machines with etcd. */
  readonly coordinators: 1 | 3;
  /** Changes to the kit's settings for a new cluster, for tests that need to be fast. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A role of the database. */
export interface Role {
  readonly name: 'eps' | 'eps_service' | 'postgres';
  readonly password: string;
}

/** Patroni, etcd and HAProxy from deploy/patroni, on machines that are loopback addresses. */
export class Cluster {
  readonly #directory: string;
  readonly #superuser: Role;
  readonly #restPassword: string;
  readonly members: readonly Member[];
  readonly machines: readonly Machine[];
  readonly #coordinators: Program[] = [];
  #balancer: Program | undefined;
  readonly #guard: ReturnType<typeof guard>;

  private constructor(directory: string, machines: readonly Machine[], members: readonly Member[]) {
    const [{ PATRONI_SUPERUSER_PASSWORD = '', PATRONI_RESTAPI_PASSWORD = '' } = {}] = machines.map(
      machine => machine.environmentOf('eps-patroni.service'),
    );
    this.#directory = directory;
    this.machines = machines;
    this.#superuser = { name: 'postgres', password: PATRONI_SUPERUSER_PASSWORD };
    this.#restPassword = PATRONI_RESTAPI_PASSWORD;
    this.members = members;
    this.#guard = guard(directory);
  }

  /** Sets machines up and starts them; resolves once every standby follows and one is synchronous. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const directory = await mkdtemp(join(serverRoot(), 'eps-cluster-'));
    await chmod(directory, 0o711);
    const account = await chooseAccount(directory);
    const net = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
    const names = ['db1', 'db2', 'db3'];
    const addressOf = (name: string) => `${net}.${names.indexOf(name) + 1}`;
    const coordinators = names.slice(0, options.coordinators);
    const secret = () => randomBytes(12).toString('hex');
    const shared = {
      ...Object.fromEntries(names.map(name => [`${name.toUpperCase()}_ADDRESS`, addressOf(name)])),
      ETCD_INITIAL_CLUSTER: coordinators
        .map(name => `${name}=http://${addressOf(name)}:2380`)
        .join(),
      PATRONI_ETCD_HOSTS: coordinators.map(name => `${addressOf(name)}:2379`).join(),
      PATRONI_POSTGRESQL_BIN_DIR: findPostgres() ?? '',
      PRIMARY_LISTEN: `${net}.1:5000`,
      PATRONI_SUPERUSER_PASSWORD: secret(),
      PATRONI_REPLICATION_PASSWORD: secret(),
      PATRONI_REWIND_PASSWORD: secret(),
      PATRONI_RESTAPI_PASSWORD: secret(),
    };
    const machines: Machine[] = [];
    const members: Member[] = [];
    for (const [index, name] of names.entries()) {
      const link = index < options.members ? await startTcpProxy(addressOf(name), 5432) : undefined;
      const machine = await Machine.setUp({
        directory: join(directory, name),
        account,
        settings: { NODE_NAME: name, NODE_ADDRESS: addressOf(name), ...shared },
        replicationAddress: link && `127.0.0.1:${link.port}`,
      });
      machines.push(machine);
      if (link !== undefined) members.push(new Member(machine, link));
    }
    const cluster = new Cluster(directory, machines, members);
    try {
      await cluster.#begin(options);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  async #begin({ coordinators, settings }: ClusterOptions): Promise<void> {
    for (const machine of this.machines.slice(0, coordinators)) {
      this.#coordinators.push(machine.start('eps-etcd.service'));
    }
    const [first, ...others] = this.members;
    if (first === undefined) return;
    first.start();
    await this.until('a primary', () => first.is('primary'));
    if (settings !== undefined) await this.configure(settings);
    for (const member of others) member.start();
    await this.until('standbys', () => this.isWhole());
    this.#balancer = this.machines[0]?.start('eps-haproxy.service');
  }

  /** Whether all others follow the primary, and one may replace it, according to both PostgreSQL and Patroni. */
  async isWhole(): Promise<boolean> {
    const primary = await this.find('primary');
    const followers = (await primary?.followers().catch(() => undefined)) ?? [];
    const heir = await this.find('sync');
    return (
      followers.length === this.members.length - 1 &&
      followers.some(({ name, isSynchronous }) => isSynchronous && name === heir?.name)
    );
  }

  /** The one that Patroni calls the primary. */
  async primary(): Promise<Member> {
    const found = await this.find('primary');
    if (found === undefined) throw new Error('there is no primary');
    return found;
  }

  /** The first member whose health check passes. */
  async find(state: 'primary' | 'sync'): Promise<Member | undefined> {
    const states = await Promise.all(this.members.map(member => member.is(state)));
    return this.members[states.indexOf(true)];
  }

  /**
   * Waits for a state of the cluster.
   * @throws Error with the latest output of each Patroni.
   */
  async until(what: string, isThere: () => Promise<boolean>): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!(await isThere())) {
      if (Date.now() > giveUpAt) {
        const lines = this.members.flatMap(({ name, lines }) =>
          lines
            .filter(line => !NOTHING_NEW.test(line))
            .slice(-LINES_SHOWN)
            .map(line => `${name}: ${line}`),
        );
        throw new Error(`the cluster did not come to ${what}\n${lines.join('\n')}`);
      }
      await sleep(POLL_MS);
    }
  }

  /** Changes the settings that Patroni stores in etcd for all members. */
  async configure(settings: Readonly<Record<string, unknown>>): Promise<void> {
    const authorization = `Basic ${Buffer.from(`patroni:${this.#restPassword}`).toString('base64')}`;
    const primary = await this.primary();
    const { status } = await primary.ask('/config', {
      method: 'PATCH',
      headers: { authorization },
      body: JSON.stringify(settings),
    });
    if (status !== 200) throw new Error(`Patroni answers a change with ${status}`);
  }

  /** Opens a superuser session on the primary, as `psql` does on its machine. */
  async openSession(database = 'postgres'): Promise<pg.Client> {
    const { address } = await this.primary();
    const client = new pg.Client(urlOf(`${address}:5432`, this.#superuser, database));
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /**
   * Cuts the primary off from its standbys, and makes it write more than any standby confirms.
   * @param looksMs How long Patroni takes to publish how much that is, in milliseconds.
   */
  async outrun(looksMs: number): Promise<void> {
    const primary = await this.primary();
    const session = await this.openSession();
    await session.query('set synchronous_commit = off');
    primary.silence();
    await session.query(`select pg_logical_emit_message(true, '', repeat(' ', ${OUTRUN_BYTES}))`);
    await session.end();
    await sleep(looksMs);
  }

  /**
   * Kills PostgreSQL of the primary, whose connection to its standbys is then open again.
   * @returns Whether a standby has replaced it; otherwise it is primary again, with all standbys, since none could
   * replace it in time.
   */
  async crashPrimary(): Promise<boolean> {
    const lost = await this.primary();
    const earlier = new Set(lost.lines);
    await lost.killPostgres();
    await lost.reconnect();
    let primary: Member | undefined;
    await this.until('another primary', async () => {
      primary = await this.find('primary');
      const wasAlone = lost.lines.some(line => !earlier.has(line) && STANDBY_AWAY.test(line));
      // Patroni calls it the primary before PostgreSQL runs again, and may still promote a standby.
      return primary !== undefined && (primary !== lost || (wasAlone && (await this.isWhole())));
    });
    return primary !== lost;
  }

  /** URL of the primary through HAProxy. */
  proxyUrl(role: Role): string {
    return urlOf(`${this.machines[0]?.address}:5000`, role);
  }

  /** URL that names all servers. */
  serversUrl(role: Role): string {
    return urlOf(this.members.map(({ address }) => `${address}:5432`).join(), role);
  }

  /** Suspends all of etcd, or resumes it. */
  async setCoordination(isThere: boolean): Promise<void> {
    for (const etcd of this.#coordinators) await etcd.signal(isThere ? 'SIGCONT' : 'SIGSTOP');
  }

  /**
   * Runs the kit's `cluster`.
   * @returns Its output.
   * @throws Error with the output if it fails.
   */
  async command(args: readonly string[]): Promise<string> {
    const program = this.machines[0]?.path('/etc/eps-cluster', 'cluster') ?? '';
    const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
    return (await promisify(execFile)(program, args, { env })).stdout;
  }

  /** Stops everything and removes its files. */
  async stop(): Promise<void> {
    await this.#balancer?.signal('SIGKILL');
    await Promise.all(this.members.map(member => member.end()));
    await Promise.all(this.#coordinators.map(etcd => etcd.signal('SIGKILL')));
    await rm(this.#directory, { recursive: true, force: true });
    this.#guard.end();
  }
}

function urlOf(hosts: string, { name, password }: Role, database = 'eps'): string {
  return `postgres://${name}:${password}@${hosts}/${database}`;
}

// PostgreSQL outlives the Patroni that has started it; Patroni ends with this process, even after kill -9. The kernel
// then closes the pipe, and its reader kills what is left.
const END_SERVERS = `
read -r line
for lock in "$1"/*/postgres/data/postmaster.pid; do
  pid=$(head -n 1 "$lock" 2>/dev/null) || continue
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = postgres ] || continue
  # Frozen processes do not end; a server that is not killed leaves no shared memory behind.
  kill -CONT "$pid" $(cat "/proc/$pid/task/$pid/children")
  kill -QUIT "$pid"
done
rm -rf "$1"`;

/** Ends the servers of a cluster if this process ends before it has done so. */
function guard(directory: string): { end(): void } {
  const reader = spawn('/bin/sh', ['-c', END_SERVERS, 'sh', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  reader.unref();
  return { end: () => reader.stdin.end() };
}
