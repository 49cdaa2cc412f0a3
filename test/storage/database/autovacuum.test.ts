import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '#storage/database/connection.ts';
import { recordAttempt } from '#storage/repositories/webhooks/attempts.ts';
import { claimDeliveries } from '#storage/repositories/webhooks/claims.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { openShop } from '../../payments/webhooks/shop.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

interface Work {
  table: string;
  /** Numbers of rows that trigger autovacuum in a table of five million. */
  dead: number;
  inserted: number;
  changed: number;
  freezesAtOnce: boolean;
}

/** The thresholds in a table of five million rows; what the table does not set comes from the server. */
async function workOf(tables: readonly string[]): Promise<Work[]> {
  const { rows } = await sql<Work>`
    with named as (
      -- Partitions by the name of their table, whose months are all alike.
      select coalesce(whole.relname, part.relname) as relname, part.reloptions
      from pg_class as part left join pg_inherits on inhrelid = part.oid
      left join pg_class as whole on whole.oid = inhparent),
    parameter as (
      select relname, split_part(setting, '=', 1) as name, split_part(setting, '=', 2)::float8 as value
      from named, unnest(reloptions) as setting where relname = any(${tables})),
    share as (
      select relname, coalesce(max(value) filter (where name = 'autovacuum_vacuum_scale_factor'),
                               current_setting('autovacuum_vacuum_scale_factor')::float8) as dead,
             max(value) filter (where name = 'autovacuum_vacuum_insert_scale_factor') as inserted,
             max(value) filter (where name = 'autovacuum_analyze_scale_factor') as changed,
             coalesce(min(value) filter (where name = 'autovacuum_freeze_min_age') = 0, false) as freezes
      from parameter group by relname)
    select relname as table, (dead * 5e6)::int as dead, (inserted * 5e6)::int as inserted,
           (changed * 5e6)::int as changed, freezes as "freezesAtOnce"
    from share order by relname`.execute(database.db);
  return rows;
}

describe('at five million rows autovacuum', () => {
  test.each([
    ['payments', 'reservations', 'deposits', 'webhook_deliveries'],
    ['idempotency_keys', 'nonces'],
  ])('removes dead rows of %s and %s in small steps', async (...tables) => {
    const works = await workOf(tables);
    expect(works).toHaveLength(tables.length);
    for (const { dead, inserted, changed } of works) {
      expect(dead).toBeLessThanOrEqual(250_000);
      expect(inserted).toBeLessThanOrEqual(250_000);
      expect(changed).toBeLessThanOrEqual(250_000);
    }
  });

  test('freezes append-only rows as they are inserted', async () => {
    const tables = ['events', 'payment_transitions', 'webhook_attempts'];
    const works = await workOf(tables);
    expect(works.map(({ table }) => table)).toEqual(tables.toSorted());
    for (const { inserted, freezesAtOnce } of works) {
      expect({ inserted, freezesAtOnce }).toEqual({ inserted: 100_000, freezesAtOnce: true });
    }
  });
});

test('claiming a delivery changes no index, ending an attempt does', async () => {
  const shop = await openShop(database);
  await shop.addEndpoint('http://127.0.0.1:1/');
  // All versions of the claims fit into one page, so that no update fails to be in place for lack of room.
  const count = 20;
  for (let n = 0; n < count; n++) await shop.tell();
  const deliveries = await shop.deliveries();
  const now = new Date(shop.clock());
  const until = new Date(now.getTime() + 60_000);
  await shop.db.connection().execute(async session => {
    const [{ endpoint_id: endpointId = '' } = {}] = deliveries;
    for (const _ of deliveries) {
      await claimDeliveries(session, [{ endpointId, count: 1 }], { now, until });
    }
    expect(await updates(session)).toEqual({ all: count, inPlace: count });
    for (const { id, event_id: eventId } of deliveries) {
      const attempt = { id: uuidv7(), delivery_id: id, number: 1, at: now, duration_ms: 1 };
      await recordAttempt(
        session,
        eventId,
        { ...attempt, status_code: 200, error: null, response_excerpt: null },
        { status: 'succeeded', finishedAt: now },
      );
    }
    expect(await updates(session)).toEqual({ all: 2 * count, inPlace: count });
  });
});

/** Updates of deliveries, and how many of them needed no index entry. */
async function updates(session: Connection): Promise<{ all: number; inPlace: number } | undefined> {
  // Otherwise the session reports its counts within a second.
  await sql`select pg_stat_force_next_flush()`.execute(session);
  const { rows } = await sql<{ all: number; inPlace: number }>`
    select sum(n_tup_upd)::int as all, sum(n_tup_hot_upd)::int as "inPlace"
    from pg_stat_user_tables where relname like 'webhook_deliveries%'`.execute(session);
  return rows[0];
}
