import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ServerClient } from './encryption.ts';
import { primaryOf } from './primary.ts';
import { type SessionOptions, sessionConfig } from './session.ts';
import { cut } from './session-client.ts';
import { CONNECT_TIMEOUT_MS } from './time-limits.ts';

/** How often the server is checked, in milliseconds. */
const CHECK_MS = 1_000;
/** How long the result of a check holds, in milliseconds: two checks may fail. */
const LIFETIME_MS = 3_000;
/** Standbys must have confirmed what the primary had written this many checks ago. */
const CONFIRMATION_CHECKS = 2;
/** Longest that all standbys may be silent before writes are refused, in milliseconds. */
export const SILENCE_MS = (CONFIRMATION_CHECKS + 1) * CHECK_MS;

/** How often the server is checked while reads are refused, in milliseconds. */
const HURRIED_CHECK_MS = 100;

/** Values of synchronous_commit with which a commit has been written to a standby's disk. */
const SAFE_COMMITS = ['on', 'remote_apply'];

/**
 * `reset_val` is what other sessions begin with: a session may relax its own commits, as the change feed does.
 * Commits wait for the standbys that are connected and synchronous. With '*' one of them may be pg_basebackup,
 * whose copy cannot be promoted before it is complete.
 */
const CHECK = `
  select (select reset_val from pg_settings where name = 'synchronous_commit') as commits,
         pg_has_role('pg_read_all_stats', 'usage') as "mayRead",
         (pg_current_wal_flush_lsn() - '0/0')::text as position,
         count(*)::int as standbys,
         (case when bool_or(sync_state = 'quorum') then max(flush_lsn - '0/0')
               else min(flush_lsn - '0/0') end)::text as confirmed,
         array(select backend_xid::text from pg_stat_activity where wait_event = 'SyncRep' and backend_xid is not null) as waiting
  from pg_stat_replication
  where state = 'streaming' and sync_state in ('sync', 'quorum') and application_name <> 'pg_basebackup'`;

interface Check {
  readonly commits: string;
  readonly mayRead: boolean;
  /** How far the primary's WAL was flushed. */
  readonly position: bigint;
  readonly standbys: number;
  /** How far the slowest synchronous standby has flushed it, or the fastest of a quorum; -1 without one. */
  readonly confirmed: bigint;
  /** IDs of transactions that wait for a standby: committed, but not visible to anybody yet. */
  readonly waiting: readonly string[];
}

export interface Durability {
  /** Why writes are refused; null while they are accepted. */
  reason(): string | null;
  /** Why reads are refused: what the server shows may be on the primary alone. null while they are allowed. */
  hiddenReason(): string | null;
  /** Reports a commit that was let through without a standby. */
  suspect(): void;
  /** Synchronous standbys at the last check; null when the server was not reached lately. */
  standbys(): number | null;
  close(): Promise<void>;
}

/** The set-up cannot give the durability that is asked for. The message says what to do. */
export class DurabilityImpossible extends Error {
  override readonly name = 'DurabilityImpossible';
}

interface DurabilityOptions extends Pick<SessionOptions, 'url' | 'applicationName'> {
  /** Called with the reason when writes begin to be refused, and with null when they are accepted again. */
  readonly onChange: (reason: string | null) => void;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

const ANEW =
  'the database server has started anew or was replaced, and no synchronous standby has all yet that it shows';
const LET_THROUGH =
  'a commit was let through that no synchronous standby has: its wait was cancelled at the database server';
const UNREACHED = 'the database has not said for some seconds whether it has a synchronous standby';

/**
 * Checks every second, on a session of its own, whether commits wait for a standby that confirms them. The worker has
 * no other long-lived session, and the API's change feed must not wait for these checks.
 * @throws DurabilityImpossible if the role or the server's settings rule it out. If only a standby is missing, writes
 * are refused until there is one.
 */
export async function openDurability(options: DurabilityOptions): Promise<Durability> {
  const { now = () => performance.now(), onChange } = options;
  const primary = primaryOf(options.url);
  const closing = new AbortController();
  let reason: string | null = null;
  let standbys: number | null = null;
  let validUntil = Number.NEGATIVE_INFINITY;
  let locatedAt = Number.NEGATIVE_INFINITY;
  /** The earlier check that later ones are compared with; replaced once it is a second old. */
  let former: (Check & { readonly at: number }) | undefined;
  /** Number of cancelled waits reported in this process, and how many of them a check has handled. */
  const cancelled = { told: 0, heeded: 0 };
  /** WAL position that standbys must confirm before reads are allowed again; null while they are allowed. */
  let shown: bigint | null = null;

  /**
   * Decides whether the server shows data that no standby has.
   * @param told How many cancelled waits had been reported when the check was sent.
   */
  function look(client: pg.Client, found: Check, at: number, isNew: boolean, told: number) {
    // A transaction that waited at the former check and no longer waits was confirmed since, or let through.
    const { waiting = [], position = 0n } = former ?? {};
    const isLetThrough =
      found.confirmed < position && waiting.some(each => !found.waiting.includes(each));
    const isAnew = isNew && !primary.isConfirmed;
    if (isAnew || isLetThrough || told > cancelled.heeded) shown = found.position;
    cancelled.heeded = told;
    if (isAnew || former === undefined || at - former.at >= CHECK_MS) former = { ...found, at };
    if (shown !== null && found.confirmed < shown) return;
    shown = null;
    if (!primary.isConfirmed) primary.confirm(client);
  }

  const hiddenReason = () => {
    if (!primary.isConfirmed) return ANEW;
    return cancelled.told > cancelled.heeded || shown !== null ? LET_THROUGH : null;
  };

  function conclude(next: string | null) {
    if (next !== reason) onChange(next);
    reason = next;
  }

  /** Checks once, or until the session ends. */
  async function watch(isOnce: boolean): Promise<void> {
    const client = new ServerClient(sessionConfig(options));
    // The query or the connect call rejects as well.
    client.on('error', () => undefined);
    const end = () => cut(client);
    closing.signal.addEventListener('abort', end, { once: true });
    try {
      await client.connect();
      await primary.admit(client);
      /** WAL positions of the primary at the last checks, oldest first. */
      const positions: { readonly at: number; readonly position: bigint }[] = [];
      let isNew = true;
      do {
        const sentAt = now();
        const { told } = cancelled;
        const found = await check(client);
        look(client, found, sentAt, isNew, told);
        isNew = false;
        const due = positions.findLast(({ at }) => sentAt - at >= CONFIRMATION_CHECKS * CHECK_MS);
        positions.splice(0, due === undefined ? 0 : positions.indexOf(due));
        positions.push({ at: sentAt, position: found.position });
        const impossible = reasonAgainst(found);
        if (isOnce && impossible !== null) throw new DurabilityImpossible(impossible);
        standbys = found.standbys;
        validUntil = sentAt + LIFETIME_MS;
        conclude(impossible ?? hiddenReason() ?? reasonNow(found, due?.position ?? 0n));
        // A server that was replaced may still respond, and then has no standby.
        if (reason !== null && sentAt - locatedAt >= CHECK_MS) {
          locatedAt = sentAt;
          void primary.locate();
        }
      } while (!isOnce && primary.isCurrent(client) && (await pause()));
    } finally {
      closing.signal.removeEventListener('abort', end);
      end();
    }
  }

  /** @returns Whether to go on. */
  const pause = () => {
    const ms = hiddenReason() === null ? CHECK_MS : HURRIED_CHECK_MS;
    return sleep(ms, true, { signal: closing.signal, ref: false }).catch(() => false);
  };

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
    hiddenReason,
    suspect() {
      cancelled.told += 1;
    },
    standbys: () => (now() < validUntil ? standbys : null),
    async close() {
      closing.abort();
      await watching;
    },
  };
}

type CheckRow = Omit<Check, 'position' | 'confirmed'> & {
  readonly position: string;
  readonly confirmed: string | null;
};

async function check(client: pg.Client): Promise<Check> {
  const query = { text: CHECK, query_timeout: CONNECT_TIMEOUT_MS };
  const { rows } = await client.query<CheckRow>(query);
  const [row] = rows;
  if (row === undefined) throw new Error('the server says nothing of its standbys');
  return { ...row, position: BigInt(row.position), confirmed: BigInt(row.confirmed ?? -1) };
}

/** Why commits cannot be replicated, whatever standbys there are; null if they can. */
function reasonAgainst({ commits, mayRead }: Check): string | null {
  if (!mayRead) {
    return 'the database role may not see standbys: grant pg_read_all_stats to it';
  }
  return SAFE_COMMITS.includes(commits)
    ? null
    : `synchronous_commit is ${commits}, so that commits do not wait for a standby's disk: set it to on`;
}

/** @param due WAL position of the primary some checks ago, which must be confirmed by now. */
function reasonNow({ standbys, confirmed }: Check, due: bigint): string | null {
  if (standbys === 0) return 'no synchronous standby is connected to the primary';
  return confirmed < due ? 'no synchronous standby confirms what the primary writes' : null;
}
