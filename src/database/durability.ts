import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ServerClient } from './encryption.ts';
import { primaryOf } from './primary.ts';
import { type SessionOptions, sessionConfig } from './session.ts';
import { cut } from './session-client.ts';
import { CONNECT_TIMEOUT_MS } from './time-limits.ts';

/** How often the server is asked, in milliseconds. */
const CHECK_MS = 1_000;
/** How long an answer holds, in milliseconds: two checks may fail. */
const LIFETIME_MS = 3_000;
/** A standby has to confirm what the primary had written so many checks ago. */
const CONFIRMATION_CHECKS = 2;
/** From how long a silence of all standbys on writes are refused, in milliseconds, at the latest. */
export const SILENCE_MS = (CONFIRMATION_CHECKS + 1) * CHECK_MS;

/** Values of synchronous_commit with which a commit has been written to a standby's disk. */
const SAFE_COMMITS = ['on', 'remote_apply'];

/**
 * A session may relax its own commits, as the feed does; what others begin with is the setting's reset value.
 * Standbys that are connected and synchronous are those that commits wait for. With '*' that may be pg_basebackup,
 * whose copy cannot be promoted before it is complete.
 */
const CHECK = `
  select (select reset_val from pg_settings where name = 'synchronous_commit') as commits,
         pg_has_role('pg_read_all_stats', 'usage') as "mayRead",
         pg_current_wal_flush_lsn()::text as position,
         count(*)::int as standbys,
         count(*) filter (where $1::pg_lsn is null or flush_lsn >= $1::pg_lsn)::int as confirming
  from pg_stat_replication
  where state = 'streaming' and sync_state in ('sync', 'quorum') and application_name <> 'pg_basebackup'`;

interface Check {
  readonly commits: string;
  readonly mayRead: boolean;
  /** How far the primary's log had been written. */
  readonly position: string;
  readonly standbys: number;
  /** Those of them that have at least what the primary had written a while ago. */
  readonly confirming: number;
}

export interface Durability {
  /** Why writes are refused; null while they are taken. */
  reason(): string | null;
  /** Synchronous standbys at the last check; null when the server was not reached lately. */
  standbys(): number | null;
  close(): Promise<void>;
}

/** The set-up cannot give the durability that is asked for. The message says what to do. */
export class DurabilityImpossible extends Error {
  override readonly name = 'DurabilityImpossible';
}

interface DurabilityOptions extends Pick<SessionOptions, 'url' | 'applicationName'> {
  /** Called whenever writes begin to be refused, with the reason, or to be taken again, with null. */
  readonly onChange: (reason: string | null) => void;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

const UNREACHED = 'the database has not said for some seconds whether it has a synchronous standby';

/**
 * Asks the primary every second, on a session of its own, whether commits wait for a standby that confirms them. The
 * worker has no other session that lasts, and the API's change feed must not wait for this.
 * @throws DurabilityImpossible where the role or the server's settings rule it out. A standby that is missing just
 * now does not: then writes are refused until there is one.
 */
export async function openDurability(options: DurabilityOptions): Promise<Durability> {
  const { now = () => performance.now(), onChange } = options;
  const primary = primaryOf(options.url);
  const closing = new AbortController();
  let reason: string | null = null;
  let standbys: number | null = null;
  let validUntil = Number.NEGATIVE_INFINITY;

  function conclude(next: string | null) {
    if (next !== reason) onChange(next);
    reason = next;
  }

  /** Asks once, or until the session ends. */
  async function watch(isOnce: boolean): Promise<void> {
    const client = new ServerClient(sessionConfig(options));
    // The query or the connect call rejects as well.
    client.on('error', () => undefined);
    const end = () => cut(client);
    closing.signal.addEventListener('abort', end, { once: true });
    try {
      await client.connect();
      await primary.admit(client);
      /** What had been written at the last checks, oldest first. */
      const positions: string[] = [];
      do {
        const sentAt = now();
        const found = await check(
          client,
          positions.length < CONFIRMATION_CHECKS ? null : positions.shift(),
        );
        positions.push(found.position);
        const impossible = reasonAgainst(found);
        if (isOnce && impossible !== null) throw new DurabilityImpossible(impossible);
        standbys = found.standbys;
        validUntil = sentAt + LIFETIME_MS;
        conclude(impossible ?? reasonNow(found));
        // A server that was replaced may still answer, and has no standby then.
        if (reason !== null) void primary.locate();
      } while (!isOnce && primary.isCurrent(client) && (await pause()));
    } finally {
      closing.signal.removeEventListener('abort', end);
      end();
    }
  }

  /** @returns Whether to go on. */
  const pause = () =>
    sleep(CHECK_MS, true, { signal: closing.signal, ref: false }).catch(() => false);

  async function keepWatching(): Promise<void> {
    do {
      await watch(false).catch(() => undefined);
      if (closing.signal.aborted) return;
      if (now() >= validUntil) conclude(UNREACHED);
      void primary.locate();
    } while (await pause());
  }

  await watch(true).catch(error => {
    if (error instanceof DurabilityImpossible) throw error;
    conclude(UNREACHED);
  });
  const watching = keepWatching();
  return {
    reason: () => reason ?? (now() < validUntil ? null : UNREACHED),
    standbys: () => (now() < validUntil ? standbys : null),
    async close() {
      closing.abort();
      await watching;
    },
  };
}

async function check(client: pg.Client, position: string | null = null): Promise<Check> {
  const query = { text: CHECK, values: [position], query_timeout: CONNECT_TIMEOUT_MS };
  const { rows } = await client.query<Check>(query);
  if (rows[0] === undefined) throw new Error('the server says nothing of its standbys');
  return rows[0];
}

/** What rules replicated commits out whatever standbys there are. */
function reasonAgainst({ commits, mayRead }: Check): string | null {
  if (!mayRead) {
    return 'the database role may not see standbys: grant pg_read_all_stats to it';
  }
  return SAFE_COMMITS.includes(commits)
    ? null
    : `synchronous_commit is ${commits}, so that commits do not wait for a standby's disk: set it to on`;
}

function reasonNow({ standbys, confirming }: Check): string | null {
  if (standbys === 0) return 'no synchronous standby is connected to the primary';
  return confirming === 0 ? 'no synchronous standby confirms what the primary writes' : null;
}
