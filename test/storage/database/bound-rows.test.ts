import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BoundColumns, selectRows } from '#storage/database/bound-rows.ts';
import { anyText } from '../../helpers/any-text.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.drop());

interface Row {
  readonly text: string | null;
  readonly bytes: Buffer | null;
  readonly number: number;
  readonly flag: boolean | null;
  readonly at: Date;
  readonly json: unknown;
}

const COLUMNS: BoundColumns<Row> = {
  text: ['text', ({ text }) => text],
  // Whether it is a Buffer or another view.
  bytes: ['bytea', ({ bytes, number }) => (bytes && number > 0 ? new Uint8Array(bytes) : bytes)],
  number: ['integer', ({ number }) => number],
  flag: ['boolean', ({ flag }) => flag],
  at: ['timestamptz', ({ at }) => at],
  json: ['jsonb', ({ json }) => json],
};

/** Texts that an array's syntax gives a meaning to, and any other that a column holds. */
const texts = fc.oneof(
  fc.constantFrom(
    '',
    'NULL',
    'null',
    '{}',
    '{"a","b"}',
    '"',
    '\\',
    '\\"',
    ',',
    ' a ',
    '\n',
    '\\x00',
  ),
  anyText().map(text => text.toWellFormed().replaceAll('\0', '')),
);
const rows: fc.Arbitrary<Row> = fc.record({
  text: fc.option(texts),
  bytes: fc.option(fc.uint8Array().map(bytes => Buffer.from(bytes))),
  number: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  flag: fc.option(fc.boolean()),
  at: fc.date({
    min: new Date('2000-01-01T00:00:00Z'),
    max: new Date('2100-01-01T00:00:00Z'),
    noInvalidDate: true,
  }),
  json: fc.option(fc.record({ text: texts, list: fc.array(texts, { maxLength: 2 }) })),
});

test('rows arrive as they were bound, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rows, { maxLength: 20 }), async given => {
      const { rows: read } = await sql<Row>`${selectRows(COLUMNS, given)}`.execute(database.db);
      expect(read).toEqual(given);
    }),
  );
});
