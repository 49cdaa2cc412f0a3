import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Connection } from './connection.ts';
import { ServerClient } from './encryption.ts';
import { hasOwnSession } from './pooler-detection.ts';
import { primaryOf } from './primary.ts';
import { type SessionOptions, sessionConfig } from './session.ts';
import { cut } from './session-client.ts';

/**
 * Receives a notification for every change to accounts and networks (migration 0010), so that a
 * replica may cache what it has read of them.
 *
 * Whether a notification is still to come cannot be known, and a connection can die silently, so a cache is
 * trusted for the length of a lease. A replica renews its lease by sending a notification to itself:
 * PostgreSQL delivers notifications in the order of their commits, so when its own arrives, it has
 * every change committed before. A command that changes something waits for the length of a lease
 * after its commit; by then each replica has the change or reads the database again.
 *
 * A replica that lost its session trusts its lease to the end, so each listener records in a table (migration
 * 0014) that it listens: a command waits if there was a listener lately, even if that is gone.
 */
export interface ChangeFeed {
  /** Whether the lease holds: every change that was acknowledged to its maker has arrived. */
  isCurrent(): boolean;
  /**
   * Renews the lease if it has lapsed, which happens between two renewals of an idle feed, and resolves with
   * whether it holds. An idle feed stays idle. Takes at most the length of a lease.
   */
  renew(): Promise<boolean>;
  /** Increases with every change, and whenever changes may have been missed. */
  readonly generation: number;
  /** @param listener Called with the ID of what changed; null when anything may have changed. */
  onChange(listener: (subject: string | null) => void): void;
  close(): Promise<void>;
}

/** Length of a lease, in milliseconds. */
export const LEASE_MS = 500;
/** How often the lease is renewed, in milliseconds: four renewals in five may get lost. */
const RENEWAL_MS = 100;
/**
 * How often an idle feed renews its lease, in milliseconds. The lease lapses in between, so the first
 * request after a pause reads the database; but renewals are most of what an idle process does.
 */
const IDLE_RENEWAL_MS = 1_000;
const IDLE_AFTER_MS = 10_000;
/** Tolerance for clocks and timers within a lease, in milliseconds. */
export const MARGIN_MS = 50;
/** Longest a connection may be silent, in milliseconds, before it is replaced. */
const SILENCE_MS = 5_000;
const RECONNECT_MAXIMUM_MS = 5_000;

/** How often a listener records that it listens, in milliseconds. */
const RECORD_MS = 20_000;
/**
 * How long after the last record a command still waits for listeners, in seconds. No lease outlives this,
 * since a lease is only renewed while records are written in time.
 */
const LISTENED_LATELY_SECONDS = 60;

const CHANNEL = 'account_changes';
/** Several replicas share the row; one record per `RECORD_MS` is enough for all of them. */
const RECORD = `
  insert into change_listeners as known (listened_at) values (now())
  on conflict (only_row) do update set listened_at = excluded.listened_at
  where known.listened_at < excluded.listened_at - interval '${RECORD_MS / 2} milliseconds'`;

export interface ChangeFeedOptions extends Omit<SessionOptions, 'pooler'> {
  /** Called when the feed is interrupted; it reconnects by itself. */
  readonly onError: (error: Error) => void;
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** Starts to listen, on a connection of its own that must not go through a pooler. */
export function openChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { now = () => performance.now(), onError } = options;
  const echoChannel = `account_echo_${randomUUID().replaceAll('-', '')}`;
  const primary = primaryOf(options.url);
  const listeners: ((subject: string | null) => void)[] = [];
  const closing = new AbortController();
  let generation = 0;
  let trustedUntil = Number.NEGATIVE_INFINITY;
  let askedAt = now();
  let wake = Promise.withResolvers<void>();
  let renewed = Promise.withResolvers<void>();

  function tell(subject: string | null) {
    generation += 1;
    for (const listener of listeners) listener(subject);
  }

  /** Listens until the connection ends. */
  async function listen(): Promise<void> {
    const client = new ServerClient(sessionConfig(options));
    const end = () => cut(client);
    closing.signal.addEventListener('abort', end, { once: true });
    let over = false;
    const ended = new Promise<void>(resolve => {
      client.once('end', () => {
        over = true;
        resolve();
      });
    });
    // 'end' follows every error.
    client.on('error', error => {
      if (!closing.signal.aborted) onError(error);
    });
    let heardAt = now();
    client.on('notification', ({ channel, payload = '' }) => {
      heardAt = now();
      if (channel === CHANNEL) return tell(payload === '*' ? null : payload);
      trustedUntil = Number(payload) + LEASE_MS;
      renewed.resolve();
      renewed = Promise.withResolvers();
    });
    try {
      await client.connect();
      const silence = setTimeout(end, SILENCE_MS);
      let recordedAt = now();
      const begun = primary.admit(client).then(() => begin(client, echoChannel));
      await begun.finally(() => clearTimeout(silence));
      const renew = async () => {
        const sentAt = now();
        if (sentAt - recordedAt >= RECORD_MS) {
          await client.query(RECORD);
          recordedAt = sentAt;
          // A server that was replaced may still answer.
          void primary.locate();
        }
        await client.query('select pg_notify($1, $2)', [echoChannel, String(now())]);
      };
      let sending = false;
      const goesOn = () => !over && !closing.signal.aborted && primary.isCurrent(client);
      while (goesOn() && now() - heardAt < SILENCE_MS) {
        if (!sending) {
          sending = true;
          // Without renewals the feed goes silent, and the connection is replaced.
          renew()
            .catch(() => undefined)
            .finally(() => {
              sending = false;
            });
        }
        wake = Promise.withResolvers();
        const isIdle = now() - askedAt > IDLE_AFTER_MS;
        await Promise.race([ended, wake.promise, pause(isIdle ? IDLE_RENEWAL_MS : RENEWAL_MS)]);
      }
    } finally {
      trustedUntil = Number.NEGATIVE_INFINITY;
      tell(null);
      closing.signal.removeEventListener('abort', end);
      end();
    }
  }

  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);

  async function keepListening(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures++) {
      const startedAt = now();
      await listen().catch(error => {
        if (!closing.signal.aborted) onError(error);
      });
      if (closing.signal.aborted) return;
      void primary.locate();
      if (now() - startedAt > RECONNECT_MAXIMUM_MS) failures = 0;
      await pause(Math.min(RENEWAL_MS * 2 ** failures, RECONNECT_MAXIMUM_MS));
    }
  }

  const listening = keepListening();
  return {
    isCurrent() {
      const at = now();
      if (at - askedAt > IDLE_AFTER_MS) wake.resolve();
      askedAt = at;
      return at < trustedUntil;
    },
    async renew() {
      if (now() >= trustedUntil) {
        wake.resolve();
        await Promise.race([renewed.promise, pause(LEASE_MS)]);
      }
      return now() < trustedUntil;
    },
    get generation() {
      return generation;
    },
    onChange: listener => void listeners.push(listener),
    async close() {
      closing.abort();
      await listening;
    },
  };
}

/** @throws Error behind a pooler. */
async function begin(client: pg.Client, echoChannel: string): Promise<void> {
  if (!(await hasOwnSession(client))) {
    throw new Error(
      'the database is reached through a pooler, where notifications are lost: name it in DATABASE_DIRECT_URL',
    );
  }
  // Records and renewals need not survive a crash of the server, so they wait neither for the disk nor for a
  // standby. A record that waited would hold the lock of the only row and block all other feeds.
  await client.query('set synchronous_commit = off');
  await client.query(RECORD);
  await client.query(`listen ${CHANNEL}`);
  await client.query(`listen ${echoChannel}`);
}

/**
 * Waits until every replica has a committed change or reads the database again; returns at once when none has
 * listened lately.
 * @param pause Waits for some milliseconds.
 */
export async function untilHeard(
  db: Connection,
  pause: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<void> {
  const { rows } = await sql`
    select from change_listeners
    where listened_at > now() - interval '${sql.raw(String(LISTENED_LATELY_SECONDS))} seconds'`.execute(
    db,
  );
  if (rows.length > 0) await pause(LEASE_MS + MARGIN_MS);
}
