import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

async function read<T>(text: string, type: string): Promise<T | undefined> {
  const { rows } = await sql<{ value: T }>`
    select ${text}::text::${sql.raw(type)} as value`.execute(database.db);
  return rows[0]?.value;
}

test('every instant from 1900 to 9999 is read to the millisecond', async () => {
  const instant = fc.date({
    min: new Date('1900-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  await fc.assert(
    fc.asyncProperty(instant, async date => {
      expect(await read(date.toISOString(), 'timestamptz')).toEqual(date);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['1999-12-31T23:59:59.5+05:30', '1999-12-31T18:29:59.500Z'],
  ['2026-05-17 12:00:00', '2026-05-17T12:00:00.000Z'],
  ['12026-05-17T12:00:00Z', '+012026-05-17T12:00:00.000Z'],
  ['0044-03-15T12:00:00Z BC', '-000043-03-15T12:00:00.000Z'],
])('%s is the instant %s', async (text, expected) => {
  expect(await read<Date>(text, 'timestamptz')).toEqual(new Date(expected));
});

test('an instant is the same in a session with another time zone', async () => {
  await database.db.connection().execute(async db => {
    await sql`set timezone = 'Asia/Kolkata'`.execute(db);
    const { rows } = await sql`select '2026-05-17T12:00:00.25Z'::timestamptz as value`.execute(db);
    await sql`reset timezone`.execute(db);
    expect(rows).toEqual([{ value: new Date('2026-05-17T12:00:00.250Z') }]);
  });
});

test('a bigint beyond safe integers is refused, and a date stays text', async () => {
  expect(await read('9007199254740991', 'bigint')).toBe(Number.MAX_SAFE_INTEGER);
  await expect(read('9007199254740992', 'bigint')).rejects.toThrow(RangeError);
  expect(await read('2026-05-17', 'date')).toBe('2026-05-17');
});
