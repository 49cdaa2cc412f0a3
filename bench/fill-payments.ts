import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';
import { addFigures } from './figures.ts';
import { type Job, LANES, runInLanes } from './lanes.ts';
import { insertRange, type PaymentHistory } from './payment-history.ts';

/** Inserts the payments of a history without their indexes, which are rebuilt afterwards. */
export async function fillPayments(db: Database, history: PaymentHistory): Promise<void> {
  const indexes = await listIndexes(db);
  for (const index of indexes) await sql`drop index ${sql.id(index.name)}`.execute(db);
  const each = Math.ceil(history.payments / LANES);
  const ranges = Array.from({ length: LANES }, (_, lane) => ({
    newest: lane * each + 1,
    oldest: Math.min((lane + 1) * each, history.payments),
  }));
  await runInLanes(
    db,
    ranges.map(range => connection => insertRange(connection, history, range)),
  );
  await runInLanes(db, [
    addFigures,
    ...indexes.map(
      ({ definition }): Job =>
        connection =>
          sql.raw(definition).execute(connection),
    ),
  ]);
  await sql`vacuum (freeze, analyze) payments`.execute(db);
}

/** Indexes of few payments or none: maintaining them costs less than reading all payments to build them. */
const OF_FEW = [
  ...['payments_checkout_token', 'payments_external', 'payments_inquiries'],
  ...['payments_due', 'payments_expiring', 'payments_quoted'],
];

/** The indexes to build after the payments were inserted, those first that take longest. */
async function listIndexes(db: Database) {
  const { rows } = await sql<{ name: string; definition: string }>`
    select relname as name, pg_get_indexdef(indexrelid) as definition
    from pg_index join pg_class on pg_class.oid = indexrelid
    where indrelid = 'payments'::regclass and not indisprimary and relname <> all(${OF_FEW})
    order by relam = (select oid from pg_am where amname = 'gin') desc, relname`.execute(db);
  return rows;
}
