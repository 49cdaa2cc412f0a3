import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TcpProxy } from '../../helpers/tcp-proxy.ts';
import type { Machine, Program } from './machine.ts';

/** The longest that a health check may take, in milliseconds. */
const CHECK_MS = 1_000;
/** The longest that PostgreSQL may take to stop without checkpoint, in milliseconds. */
const END_MS = 5_000;

/** More than Patroni's interval between checks, in milliseconds. */
const LOOK_MS = 4_000;

/** The parts of Patroni's status of a primary that are needed. */
interface PatroniStatus {
  readonly replication?: readonly {
    readonly application_name: string;
    readonly state: string;
    readonly sync_state: string;
  }[];
}

/** PostgreSQL and the Patroni that runs it, on one machine of the cluster. */
export class Member {
  readonly machine: Machine;
  /** The connection from its standbys to its PostgreSQL. */
  readonly link: TcpProxy;
  #patroni: Program | undefined;
  readonly #frozen = new Set<number>();

  constructor(machine: Machine, link: TcpProxy) {
    this.machine = machine;
    this.link = link;
  }

  get address(): string {
    return this.machine.address;
  }

  get name(): string {
    return this.machine.name;
  }

  /** The latest output of Patroni. */
  get lines(): readonly string[] {
    return this.#patroni?.lines ?? [];
  }

  start(): void {
    this.#patroni = this.machine.start('eps-patroni.service');
  }

  /** Whether a health check of Patroni passes. */
  async is(state: 'primary' | 'replica' | 'sync'): Promise<boolean> {
    const response = await this.ask(`/${state}`).catch(() => undefined);
    return response?.status === 200;
  }

  /** The standbys that it streams to. */
  async followers(): Promise<{ readonly name: string; readonly isSynchronous: boolean }[]> {
    const status = (await (await this.ask('/patroni')).json()) as PatroniStatus;
    return (status.replication ?? [])
      .filter(({ state }) => state === 'streaming')
      .map(({ application_name: name, sync_state }) => ({
        name,
        isSynchronous: sync_state === 'sync',
      }));
  }

  /** Calls Patroni's REST API. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const signal = AbortSignal.timeout(CHECK_MS);
    const response = await fetch(`http://${this.address}:8008${path}`, { ...init, signal });
    // Read here, since callers may not need the body, which would hold its connection until it is read.
    return new Response(await response.arrayBuffer(), { status: response.status });
  }

  /** Kills Patroni and every process of PostgreSQL at once, like a power loss. */
  async kill(): Promise<void> {
    const processes = await this.#postgres();
    void this.#patroni?.signal('SIGKILL');
    for (const pid of processes) signal(pid, 'SIGKILL');
    await this.#patroni?.signal('SIGKILL');
  }

  /** Kills only PostgreSQL, like the kernel when memory is short. */
  async killPostgres(): Promise<void> {
    const [postmaster] = await this.#postgres();
    if (postmaster === undefined) throw new Error(`${this.name} runs no PostgreSQL`);
    signal(postmaster, 'SIGKILL');
  }

  /**
   * Stops all processes, like a machine that hangs. PostgreSQL is first, so that Patroni waits for it in the middle
   * of a check, and later continues there with what it knew: the worst moment to be replaced.
   */
  async freeze(): Promise<void> {
    // The first of them would start others.
    for (const pid of await this.#postgres()) this.#freeze(pid);
    await sleep(LOOK_MS);
    if (this.#patroni !== undefined) this.#freeze(this.#patroni.pid);
  }

  #freeze(pid: number): void {
    this.#frozen.add(pid);
    signal(pid, 'SIGSTOP');
  }

  /** Resumes all processes. */
  thaw(): void {
    for (const pid of this.#frozen) signal(pid, 'SIGCONT');
    this.#frozen.clear();
  }

  /** Stops traffic to and from its standbys; connections stay open. */
  silence(): void {
    this.link.freeze();
    this.link.hold();
  }

  /** Ends the silent connections, and allows new ones. */
  async reconnect(): Promise<void> {
    await this.link.cut();
    await this.link.open();
  }

  /** Ends both, and leaves no shared memory behind. */
  async end(): Promise<void> {
    this.thaw();
    await this.link.cut();
    await this.#patroni?.signal('SIGKILL');
    const [postmaster] = await this.#postgres();
    if (postmaster === undefined) return;
    signal(postmaster, 'SIGQUIT');
    const giveUpAt = Date.now() + END_MS;
    while (signal(postmaster, 0) && Date.now() < giveUpAt) await sleep(10);
    for (const pid of await this.#postgres()) signal(pid, 'SIGKILL');
  }

  /** The processes of PostgreSQL, the first of which has started the others; empty if it does not run. */
  async #postgres(): Promise<number[]> {
    const path = this.machine.path('/var/lib/eps-postgres', 'data/postmaster.pid');
    const lock = await readFile(path, 'utf8').catch(() => '');
    const pid = Number(lock.split('\n')[0]);
    // A killed server leaves its file behind, and its process ID may be reused.
    if (pid === 0 || !(await isServer(pid))) return [];
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    return [pid, ...children.split(' ').filter(Boolean).map(Number)];
  }
}

async function isServer(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return command.trim() === 'postgres';
}

/** @returns Whether the process exists. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    return false;
  }
}
