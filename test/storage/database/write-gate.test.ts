import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createWriteGate } from '#storage/database/write-gate.ts';
import { cloneDatabase } from '../../helpers/database.ts';

const open = createWriteGate({ writes: [() => null] });
const closed = createWriteGate({ writes: [() => null, () => 'there is no standby'] });
const hidden = createWriteGate({ writes: [], reads: () => 'no standby has it' });
const isRefused = (text: string) => closed.refuse(text) !== undefined;

test.each([
  'insert into "payments" ("id") values ($1) on conflict do nothing',
  'with due as (select 1) update "payments" set "status" = $1',
  'DELETE FROM nonces',
  'merge into payments using given on true when matched then do nothing',
  'select id from payments limit 1 for update skip locked',
  'select * from "networks" for no key update',
  'select from chains for share',
  'select from chains for key share',
])('%s writes to the WAL, and is refused', text => {
  expect(isRefused(text)).toBe(true);
  expect(open.refuse(text)).toBeUndefined();
});

test.each([
  'select "updated_at" from "payments" where id = $1',
  'begin',
  'commit',
  `with relaxed as (select set_config('synchronous_commit', 'off', true)) insert into nonces values ($1)`,
])('%s is sent', text => {
  expect(isRefused(text)).toBe(false);
});

test('nothing is read while the data may be lost, and transactions end', () => {
  for (const text of ['select 1', 'with a as (select 1) select * from a', 'begin']) {
    expect(hidden.refuse(text)).toMatchObject({
      message: 'reads are refused: no standby has it',
    });
  }
  for (const text of ['commit', 'rollback', 'rollback to savepoint work']) {
    expect(hidden.refuse(text)).toBeUndefined();
  }
});

test('a refusal says why', () => {
  expect(closed.refuse('update networks set active = $1')).toMatchObject({
    message: 'writes are refused: there is no standby',
  });
});

test('every function of the schema that may write is listed', async () => {
  const { db, drop } = await cloneDatabase();
  try {
    // Trigger functions run within statements that write.
    const { rows } = await sql<{ name: string }>`
      select proname as name from pg_proc
      where pronamespace = 'public'::regnamespace and provolatile = 'v' and prokind in ('f', 'p')
        and prorettype <> 'trigger'::regtype
        and not exists (
          select from pg_depend where objid = pg_proc.oid and deptype = 'e')`.execute(db);
    expect(rows.map(({ name }) => name)).toContain('make_month_partitions');
    expect(rows.filter(({ name }) => !isRefused(`select ${name}($1)`))).toEqual([]);
  } finally {
    await drop();
  }
});
