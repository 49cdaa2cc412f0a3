import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { connect, type Database } from '#storage/database/connection.ts';
import { migrate, pendingMigrations, runMigrations } from '#storage/database/migrate.ts';
import { createDatabase } from '../../helpers/database.ts';

const AT_ONCE = 4;

let names: string[];
const made: { name: string; pools: Database[] }[] = [];

beforeAll(async () => {
  const files = await readdir(join(import.meta.dirname, '../../../migrations'));
  names = [...files.map(file => file.replace('.ts', '')).toSorted(), 'monthly partitions'];
});
afterAll(async () => {
  const client = new pg.Client({ connectionString: inject('databaseServer') });
  await client.connect();
  for (const { name, pools } of made) {
    for (const pool of pools) await pool.destroy();
    await client.query(`drop database ${name} with (force)`);
  }
  await client.end();
});

/** Pools on one new, empty database. */
async function emptyDatabase(pools: number): Promise<Database[]> {
  const name = `eps_migrate_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(inject('databaseServer'), name, 'template0');
  const options = { url, poolSize: 1, applicationName: 'test', onIdleError: () => undefined };
  const opened = Array.from({ length: pools }, () =>
    connect({ ...options, statementTimeoutMs: 0 }),
  );
  made.push({ name, pools: opened });
  return opened;
}

/** Everything in the schema that a dump would show, as text to compare. */
async function schemaOf(db: Database): Promise<unknown[]> {
  const { rows } = await sql`
    select 'column' as kind, table_name || '.' || column_name as name,
           data_type || coalesce(column_default, '') || is_nullable as detail
    from information_schema.columns where table_schema = 'public'
    union all
    select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
    union all
    select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select 'trigger', tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    order by 1, 2, 3`.execute(db);
  return rows;
}

test('brings an empty database up to date, and does nothing the second time', async () => {
  const [db] = await emptyDatabase(1);
  if (db === undefined) throw new Error('no database');
  expect(await pendingMigrations(db)).toEqual(names);
  const reported: unknown[] = [];
  expect(await migrate(db, (...step) => reported.push(step))).toEqual(names);
  const steps = names.slice(0, -1).map((name, index, { length }) => [index, length, name]);
  expect(reported.slice(0, steps.length)).toEqual(steps);
  expect(reported.slice(steps.length)).toContainEqual([1, 4, 'validating events']);
  expect(await pendingMigrations(db)).toEqual([]);
  const schema = await schemaOf(db);
  expect(schema.length).toBeGreaterThan(100);
  expect(await migrate(db)).toEqual([]);
  expect(await schemaOf(db)).toEqual(schema);
});

test('may be called by several processes concurrently: each step is run by one of them', async () => {
  const pools = await emptyDatabase(AT_ONCE);
  const applied = await Promise.all(pools.map(each => migrate(each)));
  expect(applied.flat().toSorted()).toEqual(names);
  const [db] = pools;
  if (db === undefined) throw new Error('no database');
  expect(await pendingMigrations(db)).toEqual([]);
});

test('listing pending steps changes nothing', async () => {
  const [db] = await emptyDatabase(1);
  if (db === undefined) throw new Error('no database');
  await pendingMigrations(db);
  expect(await schemaOf(db)).toEqual([]);
});

test('resumes after the last completed step, if others held a table or it was interrupted', async () => {
  const [db, other] = await emptyDatabase(2);
  if (db === undefined || other === undefined) throw new Error('no database');
  await migrate(db);
  const schema = await schemaOf(db);
  const name = '0067_told_apart';
  await sql`alter table reservations drop column cut_from, drop column alone_from`.execute(db);
  await sql`alter table networks drop column least_amount`.execute(db);
  // As if the index build was interrupted.
  await sql`drop index reservations_former`.execute(db);
  await sql`create index reservations_former on reservations (released_at)`.execute(db);
  await sql`delete from kysely_migration where name = ${name}`.execute(db);
  await other.transaction().execute(async tx => {
    await sql`lock table networks in row exclusive mode`.execute(tx);
    await expect(runMigrations(db, 1)).rejects.toThrow(/^Run "mp migrate" again. Others have held/);
  });
  const { rows } = await sql<{ name: string }>`
    select name from kysely_migration where name like ${`${name}%`} order by name`.execute(db);
  expect(rows).toEqual([{ name: `${name}/1` }, { name: `${name}/2` }]);
  expect(await pendingMigrations(db)).toEqual([name]);
  expect(await migrate(db)).toEqual([name]);
  expect(await schemaOf(db)).toEqual(schema);
  const { rows: left } = await sql`
    select from kysely_migration where name like '%/%'`.execute(db);
  expect(left).toEqual([]);
});
