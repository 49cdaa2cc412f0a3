import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import {
  type ChangeFeed,
  type ChangeFeedOptions,
  LEASE_MS,
  MARGIN_MS,
  openChangeFeed,
  untilHeard,
} from '#storage/database/change-feed.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { holdableClock } from '../../helpers/holdable-clock.ts';
import { SOON } from '../../helpers/soon.ts';
import { watchStalls } from '../../helpers/stalls.ts';
import { startTcpProxy } from '../../helpers/tcp-proxy.ts';

let database: TestDatabase;
const feeds: ChangeFeed[] = [];

beforeAll(async () => {
  database = await cloneDatabase();
});
afterEach(() => Promise.all(feeds.splice(0).map(feed => feed.close())));
afterAll(() => database.drop());

async function open(options: Partial<ChangeFeedOptions> = {}) {
  const errors: Error[] = [];
  const feed = openChangeFeed({
    url: database.url,
    applicationName: 'test-feed',
    onError: error => errors.push(error),
    ...options,
  });
  feeds.push(feed);
  const heard: (string | null)[] = [];
  feed.onChange(subject => heard.push(subject));
  return { feed, heard, errors };
}

async function openCurrent(options: Partial<ChangeFeedOptions> = {}) {
  const opened = await open(options);
  await vi.waitUntil(() => opened.feed.isCurrent(), SOON);
  return opened;
}

async function throughProxy() {
  const target = new URL(database.url);
  const proxy = await startTcpProxy(target.hostname, Number(target.port));
  target.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: target.href };
}

const operator = () => ({ db: database.db, clock: Date.now, actor: 'test' });

describe('a feed', () => {
  test('reports a change by any session, with the ID of what changed', async () => {
    const { feed, heard } = await openCurrent();
    const before = feed.generation;
    await sql`
      insert into merchants (id, name, email, account_kind, onboarding_status, settlement_model,
                             commission_payer, commission_bps, created_at)
      values ('01890000-0000-7000-8000-000000000001', 'a', 'a@b', 'standard', 'approved', 'direct',
              'merchant', 0, now())`.execute(database.db);
    await sql`update networks set window_minutes = 16 where id = 'sol'`.execute(database.db);
    await vi.waitUntil(() => heard.length === 2, SOON);
    expect(heard).toEqual(['01890000-0000-7000-8000-000000000001', null]);
    expect(feed.generation).toBe(before + 2);
  });

  test('waits for no standby when it records that it listens', async () => {
    const name = sql.id(new URL(database.url).pathname.slice(1));
    // The default of real servers, whatever the test server has.
    await sql`alter database ${name} set synchronous_commit = on`.execute(database.db);
    await sql`
      create function refuse_to_wait() returns trigger language plpgsql as $$
      begin
        if current_setting('synchronous_commit') <> 'off' then raise 'it waits'; end if;
        return null;
      end $$`.execute(database.db);
    await sql`
      create trigger waits after insert on change_listeners
      execute function refuse_to_wait()`.execute(database.db);
    try {
      const { errors } = await openCurrent();
      expect(errors).toEqual([]);
    } finally {
      await sql`drop trigger waits on change_listeners`.execute(database.db);
      await sql`alter database ${name} reset synchronous_commit`.execute(database.db);
    }
  });

  test('hears nothing of a change that is rolled back', async () => {
    const { heard } = await openCurrent();
    await database.db
      .transaction()
      .execute(async tx => {
        await sql`update networks set window_minutes = 17 where id = 'sol'`.execute(tx);
        throw new Error('undone');
      })
      .catch(() => undefined);
    await sql`notify account_changes, 'after'`.execute(database.db);
    await vi.waitUntil(() => heard.length > 0, SOON);
    expect(heard).toEqual(['after']);
  });

  test('is not current before it has heard its own notification', async () => {
    const { feed } = await open();
    expect(feed.isCurrent()).toBe(false);
    await vi.waitUntil(() => feed.isCurrent(), SOON);
  });

  test('that loses its session resets, and comes back', async () => {
    const { feed, heard, errors } = await openCurrent();
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'test-feed'`.execute(database.db);
    await vi.waitUntil(() => heard.includes(null), SOON);
    expect(errors.length).toBeGreaterThan(0);
    await vi.waitUntil(() => feed.isCurrent(), SOON);
  });

  test('is no longer current a lease after its connection went silent', async () => {
    const { proxy, url } = await throughProxy();
    let now = 0;
    const { feed, heard } = await openCurrent({ url, now: () => now });
    proxy.freeze();
    now += LEASE_MS - 1;
    expect(feed.isCurrent()).toBe(true);
    now += 1;
    expect(feed.isCurrent()).toBe(false);
    // It may have missed changes meanwhile, so all cached state is dropped when the connection is.
    await sql`update networks set window_minutes = 18 where id = 'sol'`.execute(database.db);
    expect(heard).toEqual([]);
    now += 10_000;
    await vi.waitUntil(() => heard.includes(null), SOON);
    await proxy.cut();
  });

  test('renews seldom while it is not asked, and at once when it is', async () => {
    let later = 0;
    const applicationName = 'test-idle-feed';
    const stalls = watchStalls();
    onTestFinished(stalls.stop);
    const now = () => performance.now() + later;
    const { feed } = await openCurrent({ applicationName, now });
    const lastRenewal = async () => {
      const { rows } = await sql<{ at: Date }>`
        select query_start as at from pg_stat_activity
        where application_name = ${applicationName}`.execute(database.db);
      return rows[0]?.at.getTime();
    };
    /** Waits until the feed has renewed `times` more times; resolves with how long that took. */
    const renewed = async (times: number) => {
      const begun = stalls.now();
      const seen = new Set<number | undefined>();
      for (;;) {
        seen.add(await lastRenewal());
        if (seen.size > times) return stalls.now() - begun;
        await sleep(SOON.interval);
      }
    };
    /** Whether one of three intervals between renewals is long: after one that is seen late, the next comes sooner. */
    const isSeldom = async () => {
      for (let tries = 0; tries < 3; tries++) if ((await renewed(1)) > 500) return true;
      return false;
    };
    // Six times what they take, and less than seldom renewals take.
    expect(await renewed(4)).toBeLessThan(2_500);
    // In steps, since a feed that hears nothing for long reconnects. By the second renewal the first has been heard.
    for (let step = 0; step < 3; step++) {
      later += 3_000;
      await renewed(2);
    }
    later += 3_000;
    expect(await isSeldom()).toBe(true);
    // A scrape has the lease renewed, and does not make the feed busy.
    expect(await feed.renew()).toBe(true);
    expect(await isSeldom()).toBe(true);
    const begun = stalls.now();
    feed.isCurrent();
    await vi.waitUntil(() => feed.isCurrent(), SOON);
    // The wait was less than the second until the next regular renewal.
    expect(stalls.now() - begun).toBeLessThan(900);
    expect(await renewed(4)).toBeLessThan(2_500);
  });

  test('that hangs while it starts is closed at once, or reopened', async () => {
    const { proxy, url } = await throughProxy();
    /** Opens a feed whose first query gets no response. */
    async function openHanging() {
      const asked = Promise.withResolvers<void>();
      const query = vi.spyOn(pg.Client.prototype, 'query');
      query.mockImplementationOnce(function (this: pg.Client, text: string) {
        query.mockRestore();
        proxy.freeze();
        asked.resolve();
        return this.query(text);
      } as typeof pg.Client.prototype.query);
      const opened = await open({ url });
      await asked.promise;
      return opened;
    }
    const { feed: closed } = await openHanging();
    const begun = performance.now();
    await closed.close();
    // Sooner than it would be closed for being silent.
    expect(performance.now() - begun).toBeLessThan(4_000);
    const { feed, errors } = await openHanging();
    await vi.waitUntil(() => feed.isCurrent(), SOON);
    expect(errors).not.toEqual([]);
    await proxy.cut();
  });

  test('that is closed reports no error of the connection it ends', async () => {
    const { feed, errors } = await openCurrent();
    await feed.close();
    await vi.waitUntil(async () => {
      const { rows } = await sql`
        select from pg_stat_activity where application_name = 'test-feed'`.execute(database.db);
      return rows.length === 0;
    }, SOON);
    expect(errors).toEqual([]);
  });

  test('refuses a connection that does not lead to the session itself', async () => {
    const connected = vi.spyOn(pg.Client.prototype, 'connect');
    connected.mockImplementationOnce(async function (this: pg.Client) {
      connected.mockRestore();
      await this.connect();
      // A pooler gives its clients a process ID of its own.
      Object.assign(this, { processID: 1 });
      return this;
    });
    const { errors } = await open();
    await vi.waitUntil(() => errors.length > 0, SOON);
    expect(errors[0]?.message).toContain('DATABASE_DIRECT_URL');
  });
});

describe('a command that changes something', () => {
  const listenedAgo = (seconds: number) =>
    sql`update change_listeners set listened_at = now() - ${seconds} * interval '1 second'`.execute(
      database.db,
    );

  test('does not wait when there was no listener for a minute', async () => {
    const pause = vi.fn(async () => undefined);
    const { feed } = await openCurrent();
    await feed.close();
    await listenedAgo(59);
    await untilHeard(database.db, pause);
    expect(pause).toHaveBeenCalledOnce();
    await listenedAgo(61);
    await untilHeard(database.db, pause);
    expect(pause).toHaveBeenCalledOnce();
  });

  test('returns when every feed has the change, or its lease has expired', async () => {
    const { heard } = await openCurrent();
    const pause = vi.fn(async () => undefined);
    await untilHeard(database.db, pause);
    expect(pause).toHaveBeenCalledExactlyOnceWith(LEASE_MS + MARGIN_MS);
    await setNetwork(operator(), 'sol', { windowMinutes: 19 });
    expect(heard).toEqual([null]);
  });

  test('waits for a feed whose session the server ended without its knowledge', async () => {
    const { proxy, url } = await throughProxy();
    // Its lease does not age while the session is being ended.
    const clock = holdableClock();
    const { feed } = await openCurrent({ url, now: clock });
    clock.hold();
    await vi.waitUntil(() => feed.isCurrent(), SOON);
    proxy.freeze();
    await sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where application_name = 'test-feed'`.execute(database.db);
    expect(feed.isCurrent()).toBe(true);
    clock.release();
    await setNetwork(operator(), 'sol', { windowMinutes: 20 });
    expect(feed.isCurrent()).toBe(false);
    await proxy.cut();
  });

  test('sees that a feed still listens', async () => {
    let now = 0;
    const { feed } = await openCurrent({ now: () => now });
    await listenedAgo(50);
    // Steps shorter than a connection may be silent.
    for (let seconds = 0; seconds < 20; seconds += 4) {
      now += 4_000;
      await vi.waitUntil(() => feed.isCurrent(), SOON);
    }
    const { rows } = await sql`
      select from change_listeners where listened_at > now() - interval '10 seconds'`.execute(
      database.db,
    );
    expect(rows).toHaveLength(1);
  });
});
