import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { connect, type Database } from '#storage/database/connection.ts';
import {
  admitService,
  readRights,
  roleOf,
  type ServiceRole,
  ServiceRoleError,
} from '#storage/database/service-role.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { SOON } from '../../helpers/soon.ts';

const suffix = randomBytes(4).toString('hex');
const service = { name: `Service ${suffix}`, password: 'pass’word' } satisfies ServiceRole;
/** The role of the tests' own connections. */
const OWNER = roleOf(inject('databaseServer')).name;
const opened: Database[] = [];
let database: TestDatabase;
let asService: Database;

function open(url: string, role: ServiceRole): Database {
  const target = new URL(url);
  Object.assign(target, { username: role.name, password: role.password ?? '' });
  const db = connect({
    url: target.href,
    poolSize: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  });
  opened.push(db);
  return db;
}

beforeAll(async () => {
  database = await cloneDatabase();
  asService = open(database.url, service);
});
afterAll(async () => {
  for (const db of opened) await db.destroy();
  await sql`drop owned by ${sql.id(service.name)}`.execute(database.db);
  await sql`drop role ${sql.id(service.name)}`.execute(database.db);
  await database.drop();
});

/** Table privileges of the service's role. */
async function privileges(): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; held: string }>`
    select relname as name, string_agg(privilege_type, ' ' order by privilege_type) as held
    from pg_class, aclexplode(relacl) join pg_roles on pg_roles.oid = grantee
    where rolname = ${service.name} group by relname`.execute(database.db);
  return new Map(rows.map(({ name, held }) => [name, held]));
}

describe('the service’s role', () => {
  test('is created once, by concurrent callers too, and can log in', async () => {
    const created = await Promise.all(
      Array.from({ length: 5 }, () => admitService(database.db, service)),
    );
    expect(created.filter(Boolean)).toHaveLength(1);
    expect((await readRights(asService)).role).toBe(service.name);
    const { rows } = await sql`
      select rolpassword from pg_authid where rolname = ${service.name}`.execute(database.db);
    expect(rows).toEqual([{ rolpassword: expect.stringMatching(/^SCRAM-SHA-256\$4096:/) }]);
  });

  test('reads and writes rows, but can only append to history', async () => {
    const held = await privileges();
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
      database.db,
    );
    const all = 'DELETE INSERT SELECT UPDATE';
    const others = {
      kysely_migration: 'SELECT',
      audit_log: 'INSERT SELECT',
      booked_returns: 'INSERT SELECT',
      events: 'DELETE INSERT SELECT',
      payment_transitions: 'INSERT SELECT',
      webhook_attempts: 'DELETE INSERT SELECT',
      payments: 'INSERT SELECT UPDATE',
    };
    expect(Object.fromEntries(rows.map(({ name }) => [name, held.get(name)]))).toEqual({
      ...Object.fromEntries(rows.map(({ name }) => [name, all])),
      ...others,
    });
    expect(held.get('partner_deltas_id_seq')).toBe('USAGE');
  });

  test('has no rights beyond that', async () => {
    expect((await readRights(asService)).excess).toEqual([]);
  });

  test('may use a new table at once, and keeps the privileges it needs there', async () => {
    await sql`create table later (id bigserial primary key)`.execute(database.db);
    await sql`insert into later default values`.execute(asService);
    await sql`
      create trigger later_append_only before update or delete on later
      for each statement execute function refuse_change()`.execute(database.db);
    await sql`grant truncate, trigger on later to ${sql.id(service.name)}`.execute(database.db);
    expect((await readRights(asService)).excess).toEqual([
      'has more privileges on tables than are granted by "mp migrate"',
    ]);
    expect(await admitService(database.db, service)).toBe(false);
    expect((await privileges()).get('later')).toBe('INSERT SELECT');
    expect((await readRights(asService)).excess).toEqual([]);
    await sql`drop table later`.execute(database.db);
  });

  test('gets no new grants when it has all', async () => {
    const versions = () =>
      sql`select xmin::text from pg_class order by oid`.execute(database.db).then(it => it.rows);
    const before = await versions();
    await admitService(database.db, service);
    expect(await versions()).toEqual(before);
  });

  test.each([
    'alter table payments disable trigger all',
    'drop trigger payments_guard on payments',
    'alter table payments add column stolen text',
    'create table mine ()',
    'create or replace function guard_payment() returns trigger language plpgsql as $$ begin return new; end $$',
    'truncate audit_log',
    'delete from payments',
    'update payment_transitions set actor = actor',
    "insert into kysely_migration (name, timestamp) values ('9999', '')",
    'set session_replication_role = replica',
    `set role ${OWNER}`,
    'create role another',
    "copy payments to program 'cat'",
    `alter role "Service ${suffix}" createrole`,
  ])('may not: %s', async statement => {
    const refused = await sql
      .raw(statement)
      .execute(asService)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(pg.DatabaseError);
    expect(refused).toMatchObject({ code: '42501' });
  });
});

describe('an owner', () => {
  /** A session in another database. */
  let elsewhere: Database;
  beforeAll(() => {
    elsewhere = open(inject('databaseServer'), roleOf(inject('databaseServer')));
  });

  test('whose role the service uses needs no grants', async () => {
    expect(await admitService(database.db, roleOf(database.url))).toBe(false);
    expect(await readRights(database.db)).toEqual({
      role: OWNER,
      excess: expect.arrayContaining(['is a superuser', 'owns tables']),
    });
  });

  test('finds a role that another database has created concurrently', async () => {
    const twin = { name: `twin_${suffix}`, password: null };
    const waiting = () =>
      sql`
      select from pg_stat_activity where wait_event_type = 'Lock' and query like 'create role %'
        and datname = current_database()`.execute(database.db);
    await sql`begin`.execute(elsewhere);
    await sql`create role ${sql.id(twin.name)}`.execute(elsewhere);
    const admitted = admitService(database.db, twin);
    await vi.waitUntil(async () => (await waiting()).rows.length > 0, SOON);
    await sql`commit`.execute(elsewhere);
    expect(await admitted).toBe(false);
    await sql`drop owned by ${sql.id(twin.name)}`.execute(database.db);
    await sql`drop role ${sql.id(twin.name)}`.execute(database.db);
  });

  test('who may not create roles reports what an administrator has to do', async () => {
    const plain = { name: `plain_${suffix}`, password: 'plain' };
    await sql`create role ${sql.id(plain.name)} login password 'plain'`.execute(database.db);
    const missing = { name: `missing_${suffix}`, password: 'secret' };
    const refused = admitService(open(database.url, plain), missing);
    await expect(refused).rejects.toThrow(ServiceRoleError);
    await expect(refused).rejects.toThrow(
      `The role missing_${suffix} of DATABASE_URL does not exist, and plain_${suffix} may not create it. ` +
        `Run as an administrator: create role missing_${suffix} login password '…';`,
    );
    await sql`drop role ${sql.id(plain.name)}`.execute(database.db);
  });
});

test.each([
  ['postgres://eps_service:p%40ss@db/eps', { name: 'eps_service', password: 'p@ss' }],
  ['postgres://db/eps?user=eps_service', { name: 'eps_service', password: null }],
])('the role of %s is parsed as the driver parses it', (url, role) => {
  expect(roleOf(url)).toEqual(role);
});
