import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '#client/index.ts';
import { mpHere } from '../../cli/mp.ts';
import { call, type Reply, type ServiceProcess } from '../service-process.ts';
import type { Ledger } from './ledger.ts';

const LIST = '/external/v1/payments';
const CREATE = `${LIST}/prompt`;
/** Pause of a refused client, in milliseconds. */
const RETRY_MS = 1_000;
/** How often a revoked key is tried, in milliseconds. */
const PROBE_MS = 200;

/** Only a process's address is needed. */
type Replica = Pick<ServiceProcess, 'url'>;

interface LoadOptions {
  readonly ledger: Ledger;
  /** Replicas of the API, by how they find the primary. */
  readonly replicas: Readonly<Record<string, Replica>>;
  readonly shop: Credentials & { readonly merchant: { readonly id: string } };
  /** The environment of `mp`, which creates and revokes keys. */
  readonly env: Readonly<Record<string, string>>;
  /** Creations, and as many reads, that start per second on each replica. */
  readonly rate: number;
  /** How often a key is created and revoked, in milliseconds. */
  readonly revocationMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** Clients that create, read and revoke at a steady rate, whatever became of their last request. */
export class Load {
  /** When creations were first confirmed, by replica, in milliseconds of its clock. */
  readonly confirmed = new Map<string, number[]>();
  /** When reads got their responses, likewise. */
  readonly answered = new Map<string, number[]>();
  /** Number of responses by status or error code; `none` counts missing ones. */
  readonly responses = new Map<string, number>();
  readonly #options: LoadOptions;
  readonly #now: () => number;
  readonly #stopped = new AbortController();
  readonly #lanes: Promise<unknown>[] = [];
  readonly #revokedKeys: Credentials[] = [];
  #isAbandoned = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    for (const [name, replica] of Object.entries(options.replicas)) {
      this.confirmed.set(name, []);
      this.answered.set(name, []);
      this.#every(1_000 / options.rate, () => this.#create(name, replica));
      this.#every(1_000 / options.rate, () => this.#read(name, replica));
      this.#every(PROBE_MS, () => this.#probe(replica));
    }
    this.#lanes.push(this.#revokeOn());
  }

  /** Stops once every request has its response, and every creation its payment. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#lanes);
  }

  /** Stops without waiting for confirmation by a service that may be gone. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#stopped.abort();
  }

  /** Starts some work at a fixed interval, without waiting for earlier work. */
  #every(ms: number, work: () => Promise<void>): void {
    const under = new Set<Promise<void>>();
    const lane = async () => {
      while (await this.#pause(ms)) {
        const begun: Promise<void> = work().finally(() => under.delete(begun));
        under.add(begun);
      }
      await Promise.all(under);
    };
    this.#lanes.push(lane());
  }

  /** @returns Whether to continue. */
  #pause(ms: number): Promise<boolean> {
    return sleep(ms, true, { signal: this.#stopped.signal }).catch(() => false);
  }

  /** Sends a request once; undefined without a response. */
  async #send(
    ...[replica, credentials, request]: Parameters<typeof call>
  ): Promise<Reply | undefined> {
    const reply = await call(replica, credentials, request).catch(() => undefined);
    const name = String(reply?.body.error?.errorCode ?? reply?.status ?? 'none');
    this.responses.set(name, (this.responses.get(name) ?? 0) + 1);
    return reply;
  }

  /** Creates a payment like a client: retries with one key until there is a payment. */
  async #create(name: string, replica: Replica): Promise<void> {
    const { ledger, shop } = this.#options;
    const reference = randomUUID();
    ledger.asked.add(reference);
    const request = {
      path: CREATE,
      body: { amount: 5000, customerReferenceId: reference },
      idempotencyKey: reference,
    };
    while (!this.#isAbandoned) {
      const reply = await this.#send(replica, shop, request);
      if (reply?.status === 201) {
        this.confirmed.get(name)?.push(this.#now());
        ledger.acknowledge(reference, reply.body.prompt.id);
        return;
      }
      await sleep(RETRY_MS);
    }
  }

  /** Reads any confirmed payment. */
  async #read(name: string, replica: Replica): Promise<void> {
    const { ledger, shop } = this.#options;
    const id = anyOf([...ledger.created.values()].slice(-1_000));
    if (id === undefined) return;
    const reply = await this.#send(replica, shop, { path: `${LIST}/${id}` });
    if (reply?.status === 200) this.answered.get(name)?.push(this.#now());
    if (reply?.status === 404) ledger.accuse('lost', id);
  }

  /** Tries a revoked key. */
  async #probe(replica: Replica): Promise<void> {
    const { ledger } = this.#options;
    const key = anyOf(this.#revokedKeys);
    if (key === undefined) return;
    const reply = await this.#send(replica, key, { path: LIST });
    if (reply?.status === 200) ledger.accuse('accepted', key.keyId);
  }

  /** Creates keys, uses them on every replica, and revokes them. */
  async #revokeOn(): Promise<void> {
    const { ledger, shop, replicas, revocationMs } = this.#options;
    while (await this.#pause(revocationMs)) {
      const owner = ['--merchant', shop.merchant.id, '--name', 'test'];
      const made = await this.#mp('key', 'create', ...owner);
      if (made === undefined) continue;
      const key: Credentials = JSON.parse(made);
      for (const replica of Object.values(replicas)) await this.#send(replica, key, { path: LIST });
      let revoked = await this.#mp('key', 'revoke', key.keyId);
      while (revoked === undefined && (await this.#pause(RETRY_MS))) {
        revoked = await this.#mp('key', 'revoke', key.keyId);
      }
      if (revoked === undefined) continue;
      ledger.revoked.add(key.keyId);
      this.#revokedKeys.push(key);
      for (const replica of Object.values(replicas)) {
        const reply = await this.#send(replica, key, { path: LIST });
        if (reply?.status === 200) ledger.accuse('accepted', key.keyId);
      }
    }
  }

  /** The output of a command; undefined if it failed and may be retried. */
  async #mp(...args: readonly string[]): Promise<string | undefined> {
    const { status, out, err } = await mpHere([...args, '--json'], this.#options.env);
    // An earlier attempt had revoked it, without a response.
    if (err.includes('is already revoked')) return out;
    return status === 0 ? out : undefined;
  }
}

function anyOf<T>(some: readonly T[]): T | undefined {
  return some[Math.floor(Math.random() * some.length)];
}

/** The longest gap between these moments within an interval, including its start and end. */
export function longestGap(moments: readonly number[], from: number, to: number): number {
  const within = [from, ...moments.filter(at => at > from && at < to), to];
  const gaps = within.slice(1).map((at, index) => at - (within[index] ?? at));
  return Math.max(...gaps);
}
