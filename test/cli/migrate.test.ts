import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, inject, test } from 'vitest';
import { connect } from '#storage/database/connection.ts';
import { createDatabase } from '../helpers/database.ts';
import { mp, mpHere } from './mp.ts';

const directory = await mkdtemp(join(tmpdir(), 'eps-cli-'));
// If root runs the tests, the embedded server runs as another user and needs access.
await chmod(directory, 0o711);
afterAll(() => rm(directory, { recursive: true, force: true }));

test('an empty database is refused until it is migrated', async () => {
  const name = `eps_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(inject('databaseServer'), name, 'template0');
  const env = { DATABASE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') };
  const early = await mpHere(['network', 'list', '--json'], env);
  expect(early.status).toBe(1);
  expect(JSON.parse(early.out).error.message).toBe(early.err.trimEnd());
  expect(early.err).toMatch(
    /^The database lacks 0001_networks, .*: run "npx --no mp migrate" first\.\n$/,
  );

  const files = await readdir(resolve(import.meta.dirname, '../../migrations'));
  const names = files.map(file => file.replace(/\.ts$/, '')).sort();
  expect(await mpHere(['migrate'], env)).toEqual({
    status: 0,
    out: [...names, 'monthly partitions'].map(applied => `${applied}\n`).join(''),
    err: '',
  });
  const again = await mpHere(['migrate', '--json'], env);
  expect(JSON.parse(again.out)).toEqual({ applied: [], createdRole: null });
  expect((await mpHere(['migrate'], env)).out).toBe('The database is up to date.\n');
  expect((await mpHere(['network', 'list'], env)).status).toBe(0);
});

test('a connection that is lost halfway is reported in one line', async () => {
  const name = `eps_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(inject('databaseServer'), name, 'template0');
  const db = connect({ url, poolSize: 1, applicationName: 'test', onIdleError: () => undefined });
  await sql`
    create function end_session() returns event_trigger language plpgsql as $$
    begin
      if to_regclass('payments') is not null then
        perform pg_terminate_backend(pg_backend_pid());
      end if;
    end $$`.execute(db);
  await sql`create event trigger ending on ddl_command_end execute function end_session()`.execute(
    db,
  );
  await db.destroy();
  const env = { DATABASE_URL: url, MASTER_KEY: randomBytes(32).toString('base64') };
  const { status, out, err } = await mpHere(['migrate'], env);
  expect({ status, out }).toEqual({ status: 1, out: '' });
  expect(err).toMatch(
    /^The database cannot be reached: [^\n]+\. Check DATABASE_URL and the server\.\n$/,
  );
});

test('the embedded database is migrated by commands that need it, one after the other', async () => {
  const env = { DATA_DIRECTORY: directory, MASTER_KEY: undefined };
  const create = (name: string) => mp(['partner', 'create', '--name', name, '--json'], env);
  const both = await Promise.all([create('One'), create('Two')]);
  expect(both).toMatchObject([
    { status: 0, err: '' },
    { status: 0, err: '' },
  ]);
  const listed = await mpHere(['partner', 'list', '--json'], env);
  expect(JSON.parse(listed.out)).toHaveLength(2);
});

test('errors of configuration or database are reported in one line, without secrets', async () => {
  const url = new URL(inject('databaseServer'));
  const wrong = new URL(url);
  wrong.password = 's3cret';
  wrong.pathname = '/no_such_database';
  for (const [env, message] of [
    [{ DATABASE_URL: 'mysql://a:s3cret@b/c' }, 'The configuration is not usable:\nDATABASE_URL '],
    [{ DATABASE_URL: wrong.href }, 'The database refuses what DATABASE_URL names: '],
    [{ NODE_ENV: 'production' }, 'The configuration is not usable:\nDATABASE_URL is not set'],
    [{ MP_ACTOR: 'a\nb' }, 'The configuration is not usable:\nMP_ACTOR '],
  ] as const) {
    const { status, out, err } = await mpHere(['network', 'list', '--json'], env);
    expect(status).toBe(1);
    expect(JSON.parse(out).error.message).toBe(err.trimEnd());
    expect(err.startsWith(message)).toBe(true);
    expect(err).not.toMatch(/s3cret|\n {4}at /);
  }
});
