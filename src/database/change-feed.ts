import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { Connection } from './connection.ts';
import { hasOwnSession } from './direct.ts';
import { type SessionOptions, sessionConfig } from './session.ts';

/**
 * Hears of every change to accounts and networks (migration 0010), so that a replica may remember
 * what it has read of them.
 *
 * A notification cannot be waited for, and a connection can die without a word, so what a replica
 * has heard is trusted for a lease only: it sends itself a notification and, when it hears it, has
 * heard everything committed before it was sent, for PostgreSQL delivers them in the order of their
 * commits. Whoever changes something waits for the length of a lease after the commit: then each
 * replica has either heard of it or asks the database again.
 */
export interface ChangeFeed {
  /** Whether all changes have been heard of whose makers were told that they hold. */
  isCurrent(): boolean;
  /** Goes up with every change heard of, and whenever some may have been missed. */
  readonly generation: number;
  /** @param listener Told the ID of what changed; null when it can be anything. */
  onChange(listener: (subject: string | null) => void): void;
  close(): Promise<void>;
}

/** How long what was heard is trusted, in milliseconds. */
export const LEASE_MS = 500;
/** How often the lease is renewed, in milliseconds: one renewal in five is enough. */
const RENEWAL_MS = 100;
/** What clocks and timers may be off by within a lease, in milliseconds. */
export const MARGIN_MS = 50;
/** A connection that has not answered for so long, in milliseconds, is given up. */
const SILENCE_MS = 5_000;
const RECONNECT_MAXIMUM_MS = 5_000;

const CHANNEL = 'account_changes';
/** Key of the advisory lock that every listening session shares: its holders are the listeners. */
const LISTENERS_LOCK = 20_261_121;

export interface ChangeFeedOptions extends Omit<SessionOptions, 'pooler'> {
  /** Told why changes are not heard; the feed goes on trying. */
  readonly onError: (error: Error) => void;
  /** Milliseconds that only ever go forward. */
  readonly now?: () => number;
}

/** A feed that hears nothing: everything is asked of the database. */
export const NO_CHANGE_FEED: ChangeFeed = {
  isCurrent: () => false,
  generation: 0,
  onChange: () => undefined,
  close: async () => undefined,
};

/** Starts to listen, on a connection of its own that must not lead through a pooler. */
export function openChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { now = () => performance.now(), onError } = options;
  const echoChannel = `account_echo_${randomUUID().replaceAll('-', '')}`;
  const listeners: ((subject: string | null) => void)[] = [];
  const closing = new AbortController();
  let generation = 0;
  let trustedUntil = Number.NEGATIVE_INFINITY;

  function tell(subject: string | null) {
    generation += 1;
    for (const listener of listeners) listener(subject);
  }

  /** Listens until the connection ends. */
  async function listen(): Promise<void> {
    const client = new pg.Client(sessionConfig(options));
    let over = false;
    const ended = new Promise<void>(resolve => {
      client.once('end', () => {
        over = true;
        resolve();
      });
    });
    // The end follows.
    client.on('error', error => {
      if (!closing.signal.aborted) onError(error);
    });
    let heardAt = now();
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === CHANNEL) tell(payload === '*' ? null : payload);
      else trustedUntil = Number(payload) + LEASE_MS;
      heardAt = now();
    });
    try {
      await client.connect();
      await begin(client, echoChannel);
      let sending = false;
      while (!over && !closing.signal.aborted && now() - heardAt < SILENCE_MS) {
        if (!sending) {
          sending = true;
          const renewal = client.query('select pg_notify($1, $2)', [echoChannel, String(now())]);
          // A failure ends the connection.
          renewal
            .catch(() => undefined)
            .finally(() => {
              sending = false;
            });
        }
        await Promise.race([ended, pause(RENEWAL_MS)]);
      }
    } finally {
      trustedUntil = Number.NEGATIVE_INFINITY;
      tell(null);
      client.connection.stream.destroy();
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
      if (now() - startedAt > RECONNECT_MAXIMUM_MS) failures = 0;
      await pause(Math.min(RENEWAL_MS * 2 ** failures, RECONNECT_MAXIMUM_MS));
    }
  }

  const listening = keepListening();
  return {
    isCurrent: () => now() < trustedUntil,
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

/** @throws Error when the session is not this connection's own. */
async function begin(client: pg.Client, echoChannel: string): Promise<void> {
  if (!(await hasOwnSession(client))) {
    throw new Error(
      'the database is reached through a pooler, where notifications are lost: name it in DATABASE_DIRECT_URL',
    );
  }
  await client.query('select pg_advisory_lock_shared($1)', [LISTENERS_LOCK]);
  // Renewals are worth no wait for the disk.
  await client.query('set synchronous_commit = off');
  await client.query(`listen ${CHANNEL}`);
  await client.query(`listen ${echoChannel}`);
}

/**
 * Waits until what is committed holds on every replica; returns at once when none listens. A server
 * that has just started may have had listeners that do not know yet that it had stopped.
 * @param pause Waits for some milliseconds.
 */
export async function untilHeard(
  db: Connection,
  pause: (milliseconds: number) => Promise<unknown> = sleep,
): Promise<void> {
  const { rows } = await sql`
    select where pg_postmaster_start_time() > now() - interval '2 seconds' or exists (
      select from pg_locks
      where locktype = 'advisory' and objid = ${LISTENERS_LOCK} and granted
        and database = (select oid from pg_database where datname = current_database())
    )`.execute(db);
  if (rows.length > 0) await pause(LEASE_MS + MARGIN_MS);
}
