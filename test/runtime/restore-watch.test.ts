import fc from 'fast-check';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { newId } from '#crypto/new-id.ts';
import { openNewestMark } from '#runtime/restore-mark.ts';
import { createRestoreWatch, type RestoreWatch } from '#runtime/restore-watch.ts';
import type { Connection } from '#storage/database/connection.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import { beginLineage, insertRestore } from '#storage/repositories/restores.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { freePort, launchRedis, REDIS_MISSING, type TestRedis } from '../helpers/redis-server.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';

const missing = inject('redisServer') === null;

describe.skipIf(missing)(missing ? REDIS_MISSING : 'a database that may be restored', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let operator: Redis;
  const opened: RestoreWatch[] = [];
  const primary = { timeline: 1 };
  const logger = { error: vi.fn(), info: vi.fn() };

  beforeAll(async () => {
    [database, redis] = await Promise.all([cloneDatabase(), launchRedis(await freePort())]);
    operator = new Redis(redis.url);
  });
  beforeEach(async () => {
    primary.timeline = 1;
    vi.clearAllMocks();
    await sql`truncate lineages`.execute(database.db);
  });
  afterAll(async () => {
    await Promise.all(opened.map(watch => watch.close()));
    operator?.disconnect();
    await Promise.all([redis?.stop(), database?.drop()]);
  });

  async function open(url: string | null = redis.url): Promise<RestoreWatch> {
    const mark = url === null ? null : await openNewestMark(url);
    const watch = createRestoreWatch({ primary, mark, clock: Date.now, logger });
    opened.push(watch);
    return watch;
  }

  async function write(db: Connection = database.db): Promise<string> {
    const entry = { id: newId(), actor: 'test', action: 'test.write', now: new Date() };
    await insertAuditEntry(db, { ...entry, objectType: 'test', objectId: 'test', detail: {} });
    return entry.id;
  }

  /** Removes what was written after the entry, as a restore does, including what was noticed since. */
  async function restoreTo(last: string): Promise<void> {
    await database.db.transaction().execute(async tx => {
      await sql`set local session_replication_role = replica`.execute(tx);
      await sql`delete from audit_log where id > ${last}::uuid`.execute(tx);
      await sql`delete from lineages where begun_at is null`.execute(tx);
    });
  }

  const isRefused = async (watch: RestoreWatch) => {
    await watch.look(database.db);
    return watch.isUnconfirmed();
  };

  /** What can happen to a database with two processes. */
  const STEP = fc.oneof(
    fc.constant('write' as const),
    fc.constant('write that fails' as const),
    fc.constantFrom('first looks' as const, 'second looks' as const),
    fc.constantFrom('first is started again' as const, 'Redis is emptied' as const),
    fc.record({ back: fc.nat({ max: 4 }) }),
  );

  test('is noticed if and only if it lacks what was there when a process last checked', async () => {
    const watches = [await open(), await open()];
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 4, maxLength: 14 }), async steps => {
        await sql`truncate lineages`.execute(database.db);
        const entries = [await write()];
        /** The newest that a process has seen, as far as Redis knows. */
        let marked: string | undefined;
        let isNoticed = false;
        const look = async (watch: RestoreWatch | undefined) => {
          if (watch === undefined) throw new Error('no watch');
          isNoticed ||= marked !== undefined && !entries.includes(marked);
          expect(await isRefused(watch)).toBe(isNoticed);
          if (!isNoticed) marked = entries.at(-1);
        };
        for (const step of steps) {
          if (step === 'write') entries.push(await write());
          else if (step === 'write that fails') {
            const failing = database.db.transaction().execute(async tx => {
              await write(tx);
              await look(watches[0]);
              throw new Error('not committed');
            });
            await expect(failing).rejects.toThrow('not committed');
          } else if (step === 'first looks') await look(watches[0]);
          else if (step === 'second looks') await look(watches[1]);
          else if (step === 'first is started again') watches[0] = await open();
          else if (step === 'Redis is emptied') {
            await operator.flushall();
            marked = undefined;
          } else {
            isNoticed = false;
            entries.splice(Math.max(1, entries.length - step.back));
            await restoreTo(entries.at(-1) ?? '');
          }
        }
        // Both come to the same conclusion.
        for (const watch of watches) await look(watch);
      }),
      { numRuns: 20 },
    );
  });

  test('says to which time, and what to do', async () => {
    const [kept, watch] = [await write(), await open()];
    const lost = await write();
    expect(await isRefused(watch)).toBe(false);
    expect(watch.reason()).toBeNull();
    await restoreTo(kept);
    expect(await isRefused(watch)).toBe(true);
    const [to, until] = [kept, lost].map(timeOf);
    const sentence = `the database was restored to ${to} and lacks what came until ${until}: look at "mp restore show", then run "mp restore confirm"`;
    expect(watch.reason()).toBe(sentence);
    expect(logger.error.mock.lastCall?.[1]).toBe(sentence);
    // Another process learns it from the database, with and without Redis.
    const other = await open(null);
    expect(await isRefused(other)).toBe(true);
    await isRefused(watch);
    expect(logger.error).toHaveBeenCalledTimes(2);
  });

  test('after an earlier restore lacks what came after that as well, repeatedly', async () => {
    const kept = await write();
    const watch = await open();
    expect(await isRefused(watch)).toBe(false);
    for (const _ of ['once', 'again']) {
      // Continues from a restore, with what is written then.
      const now = new Date();
      const restore = { id: newId(), noticedBy: 'test', restoredTo: now, lostUntil: null, now };
      const { rows } = await sql<{ id: string }>`
        select id from lineages where begun_at is not null order by number desc limit 1`.execute(
        database.db,
      );
      await sql`delete from lineages where begun_at is null`.execute(database.db);
      await insertRestore(database.db, restore, rows[0]?.id ?? '');
      await beginLineage(database.db, restore.id, now);
      expect(await isRefused(await open())).toBe(false);
      const lost = await write();
      expect(await isRefused(await open())).toBe(false);
      // Back to before that restore: nothing of its own lineage is missing.
      await restoreTo(kept);
      await sql`delete from lineages where id = ${restore.id}`.execute(database.db);
      const found = await open();
      expect(await isRefused(found)).toBe(true);
      expect(found.reason()).toContain(`lacks what came until ${timeOf(lost)}:`);
    }
  });

  test('is refused by all processes that detect it concurrently', async () => {
    const kept = await write();
    await isRefused(await open());
    await write();
    await isRefused(await open());
    await restoreTo(kept);
    const mark = await openNewestMark(redis.url);
    const allRead = Promise.withResolvers<void>();
    let readers = 0;
    const watches = [1, 2, 3].map((_, __, { length }) => {
      const read = async (lineage: string) => {
        readers += 1;
        if (readers === length) allRead.resolve();
        await allRead.promise;
        return mark.read(lineage);
      };
      return createRestoreWatch({ primary, mark: { ...mark, read }, clock: Date.now, logger });
    });
    opened.push(...watches);
    expect(await Promise.all(watches.map(isRefused))).toEqual([true, true, true]);
    const { rows } = await sql`select from lineages where begun_at is null`.execute(database.db);
    expect(rows).toHaveLength(1);
  });

  test('a different database with the same Redis is not refused', async () => {
    const watch = await open();
    await write();
    expect(await isRefused(watch)).toBe(false);
    const other = await cloneDatabase();
    try {
      const stranger = await open();
      await stranger.look(other.db);
      expect(stranger.isUnconfirmed()).toBe(false);
    } finally {
      await other.drop();
    }
    expect(await isRefused(watch)).toBe(false);
  });

  test('accepts no writes on another server before that has been compared', async () => {
    const watch = await open();
    expect(watch.reason()).toBeNull();
    expect(await isRefused(watch)).toBe(false);
    primary.timeline = 2;
    expect(watch.reason()).toBe(
      'the database server has changed, and is being compared with what is known of it',
    );
    expect(await isRefused(watch)).toBe(false);
    expect(watch.reason()).toBeNull();
  });

  test('works while Redis is unavailable, after ten seconds; then a restore is noticed', async () => {
    const kept = await write();
    const proxy = await startTcpProxy('127.0.0.1', Number(new URL(redis.url).port));
    const watch = await open(`redis://127.0.0.1:${proxy.port}`);
    expect(await isRefused(watch)).toBe(false);
    await write();
    expect(await isRefused(watch)).toBe(false);
    await restoreTo(kept);
    primary.timeline = 2;
    await proxy.cut();
    expect(await isRefused(watch)).toBe(false);
    expect(watch.reason()).toContain('has changed');
    expect(watch.isMarkUnreadable()).toBe(true);
    const later = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_001);
    expect(await isRefused(watch)).toBe(false);
    later.mockRestore();
    expect(watch.reason()).toBeNull();
    expect(logger.error).toHaveBeenCalledOnce();
    expect(await isRefused(await open())).toBe(true);
  });

  test('with an invalid mark reports that, and works', async () => {
    await operator.flushall();
    await write();
    await isRefused(await open());
    const [key = ''] = await operator.keys('mp:newest:*');
    for (const text of ['nonsense', '- - - -', "' or 1=1 --"]) {
      await operator.set(key, text);
      const other = await open();
      expect(await isRefused(other)).toBe(false);
      expect(logger.error.mock.lastCall?.[0].err.message).toBe(`"${text}" is no mark`);
    }
  });
});

/** The time at the beginning of a UUIDv7. */
function timeOf(id: string): string {
  return new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toISOString();
}
