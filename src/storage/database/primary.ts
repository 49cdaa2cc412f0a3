import type pg from 'pg';
import { serverUrls } from '#config/server-urls.ts';
import { columnTypes } from './column-values.ts';
import { encryptionOf, ServerClient } from './encryption.ts';
import { isDatabaseUnavailable, NotPrimary } from './errors.ts';
import { CONNECT_TIMEOUT_MS } from './time-limits.ts';

/** A connection is retried in the same request if it failed within this time, in milliseconds. */
const QUICK_FAILURE_MS = 500;

/**
 * The timeline is the first part of the name of a WAL file. A standby has none. After a crash the postmaster restarts
 * all other processes and keeps its own start time, so the start of the checkpointer counts as well. A role without
 * pg_read_all_stats, which DATABASE_DURABILITY=replicated requires, does not see that. Every new connection asks this:
 * the function takes half the time of pg_stat_activity, which joins it with databases and roles.
 */
const IDENTITY = `
  select greatest(pg_postmaster_start_time(),
           (select max(backend_start) from pg_stat_get_activity(null) where backend_type = 'checkpointer'))::text as "startedAt",
         case when pg_is_in_recovery() then null
         else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

/**
 * The primary among the servers of a URL, which may change with each failover. PostgreSQL counts promotions as
 * timelines, so a primary with an earlier timeline than one that was seen is an old one that has come back. It may
 * still respond, with outdated accounts and keys.
 */
export class Primary {
  readonly #urls: readonly string[];
  readonly #timelines = new WeakMap<pg.ClientBase, number>();
  /** Timeline and start time of the server that a connection leads to. */
  readonly #servers = new WeakMap<pg.ClientBase, string>();
  readonly #seen = new Set<string>();
  /** The last server that was new to this process. */
  #server: string | undefined;
  #confirmed: string | undefined;
  #url: string;
  #timeline = 0;
  #locating: Promise<boolean> | undefined;

  /** @throws Error if `url` is no PostgreSQL URL. */
  constructor(url: string) {
    const urls = serverUrls(url);
    if (urls?.[0] === undefined) throw new Error('this is no postgres:// URL');
    this.#urls = urls;
    this.#url = urls[0];
  }

  /** URL of the server that was the primary when it was last looked for. */
  get url(): string {
    return this.#url;
  }

  /** Increases with every promotion that this process has noticed. */
  get timeline(): number {
    return this.#timeline;
  }

  /**
   * Checks that a new connection may be used.
   * @throws NotPrimary for a standby, and for a primary that has been replaced.
   */
  async admit(client: pg.ClientBase): Promise<void> {
    const { timeline, startedAt } = await readIdentity(client);
    if (timeline === null) throw new NotPrimary('The server is a standby, which takes no writes.');
    if (timeline < this.#timeline)
      throw new NotPrimary('The server has been replaced by a newer primary.');
    this.#timeline = timeline;
    this.#timelines.set(client, timeline);
    const server = `${timeline} ${startedAt}`;
    this.#servers.set(client, server);
    if (this.#seen.has(server)) return;
    this.#seen.add(server);
    this.#server = server;
    // The first server that a process finds counts as confirmed.
    this.#confirmed ??= server;
  }

  /**
   * Whether the server is confirmed and has not restarted since. Any other one may show commits that no standby has:
   * those that were still waiting for one when the server stopped.
   */
  get isConfirmed(): boolean {
    return this.#confirmed === this.#server;
  }

  /** Confirms the server of this connection: a standby has all that it had at some time after it was admitted. */
  confirm(client: pg.ClientBase): void {
    this.#confirmed = this.#servers.get(client);
  }

  /** Whether an admitted connection leads to the newest primary that this process knows, in its current run. */
  isCurrent(client: pg.ClientBase): boolean {
    const isNewest = this.#timelines.get(client) === this.#timeline;
    return isNewest && this.#servers.get(client) === this.#server;
  }

  /**
   * Opens a connection, with one retry. If the server is unreachable or not the primary, it retries once the primary is
   * found. If the server refuses encrypted or unencrypted connections, it retries the other way if the URL allows both.
   * @throws Error whatever `open` fails with.
   */
  reach<T>(open: () => Promise<T>): Promise<T> {
    if (encryptionOf(this.#url).isNegotiable) return this.#negotiate(open);
    return this.#urls.length === 1 ? open() : this.#reachOneOf(open);
  }

  async #negotiate<T>(open: () => Promise<T>): Promise<T> {
    const encryption = encryptionOf(this.#url);
    const { isOn } = encryption;
    try {
      return await this.#reachOneOf(open);
    } catch (error) {
      if (encryption.isOn === isOn) throw error;
      return open();
    }
  }

  async #reachOneOf<T>(open: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await open();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      const found = this.locate();
      if (performance.now() - startedAt > QUICK_FAILURE_MS) throw error;
      await found;
      return open();
    }
  }

  /**
   * Looks for the primary among several servers; a single one counts as found. Takes no longer than one connection may,
   * since all servers are probed at once.
   * @returns Whether there is one; otherwise the previous one is used.
   */
  locate(): Promise<boolean> {
    if (this.#urls.length === 1) return Promise.resolve(true);
    this.#locating ??= this.#choose().finally(() => {
      this.#locating = undefined;
    });
    return this.#locating;
  }

  async #choose(): Promise<boolean> {
    const timelines = await Promise.all(this.#urls.map(probe));
    const newest = Math.max(this.#timeline, ...timelines.map(timeline => timeline ?? 0));
    const url = this.#urls[timelines.indexOf(newest)];
    if (url === undefined) return false;
    this.#url = url;
    // From now on connections to older primaries, which may still respond, are not used any more.
    this.#timeline = newest;
    return true;
  }
}

const primaries = new Map<string, Primary>();

/** The primary that all connections of this process to the URL share, so that one of them notices a new one for all. */
export function primaryOf(url: string): Primary {
  const primary = primaries.get(url) ?? new Primary(url);
  primaries.set(url, primary);
  return primary;
}

interface Identity {
  /** null for a standby. */
  readonly timeline: number | null;
  readonly startedAt: string;
}

async function readIdentity(client: pg.ClientBase): Promise<Identity> {
  const query = { text: IDENTITY, query_timeout: CONNECT_TIMEOUT_MS };
  const { rows } = await client.query<Identity>(query);
  if (rows[0] === undefined) throw new Error('the server does not say what it is');
  return rows[0];
}

/** The timeline of a server, if it is a primary that answers in time. */
async function probe(url: string): Promise<number | null> {
  const client = new ServerClient({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: columnTypes,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await readIdentity(client)).timeline;
  } catch {
    return null;
  } finally {
    client.connection.stream.destroy();
  }
}
