import { type RawBuilder, sql } from 'kysely';
import { listEvents, readEvent } from '#payments/webhooks/list-events.ts';
import { type Connection, connect, type Database } from '#storage/database/connection.ts';
import { MONTHS_AHEAD } from '#storage/database/partition-tables.ts';
import { dropPartitions, listPartitions } from '#storage/repositories/partitions.ts';
import { readHistoricEvents } from '#storage/repositories/payments/history.ts';
import { listAttempts, type TriedDelivery } from '#storage/repositories/webhooks/attempts.ts';
import { claimDeliveries, findDueEndpoints } from '#storage/repositories/webhooks/claims.ts';
import { listTroubledEndpoints } from '#storage/repositories/webhooks/endpoints.ts';
import { monthsOf } from '#storage/repositories/webhooks/event-months.ts';
import {
  findOwnDelivery,
  listOwnDeliveries,
} from '#storage/repositories/webhooks/own-deliveries.ts';
import { makeMonths, monthFrom } from '../test/helpers/months.ts';
import { EVENT_MONTHS } from './event-history.ts';
import type { History } from './histories.ts';
import { type Finding, timed, VoidRun } from './measure.ts';
import type { PartnerHistory } from './partner-history.ts';
import type { Resources } from './resources.ts';

/** What partitions by month cost and save with a long history. */

type Side = History<PartnerHistory>;

const PAGE = 10;
/** The most months of a table that a page or a look-up by ID may read. */
const MONTHS_READ = 2;
/** The longest that the removal of a month and the vacuum of a partition may take, in seconds. */
const DROP_SECONDS = 1;
const VACUUM_SECONDS = 60;
/** One row in this many is dead when a table is vacuumed: enough for all of its indexes to be read. */
const DEAD_EVERY = 100;
const EVENT_TABLES = ['events', 'webhook_deliveries', 'webhook_attempts'];

/** Gives an empty database the months that a service keeps. */
export function layMonths(db: Database): Promise<void> {
  const now = new Date();
  return makeMonths(db, monthFrom(now, -EVENT_MONTHS), monthFrom(now, MONTHS_AHEAD));
}

/** Measures partitions. Runs last, since it leaves dead rows behind and drops the oldest month. */
export async function monthFindings(resources: Resources, side: Side): Promise<Finding[]> {
  return [
    ...(await countMonthsRead(resources, side)),
    ...(await vacuum(side.db)),
    await dropMonth(side.db),
  ];
}

/** A delivery from the middle of the history. */
interface Middle {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly delivery: TriedDelivery;
}

type Statement = (db: Connection, side: Side, middle: Middle) => Promise<unknown>;

const listed =
  (query: (middle: Middle) => Parameters<typeof listEvents>[2]): Statement =>
  (db, { merchantId }, middle) =>
    listEvents(db, merchantId, { limit: PAGE, ...query(middle) }, new Date(0));

/**
 * Statements that read events, deliveries and attempts, and whether they know the months. Lists are prepared
 * statements, and read the indexes of all months: leaving some out would save an eighth of a page.
 */
const STATEMENTS: readonly (readonly [subject: string, knows: boolean, Statement])[] = [
  ['an event', true, (db, { merchantId }, { eventId }) => readEvent(db, merchantId, eventId)],
  ['events, first page', false, listed(() => ({}))],
  ['events behind a cursor', false, listed(({ eventId }) => ({ startingAfter: eventId }))],
  ['events, oldest first', false, listed(() => ({ order: 'oldest' }))],
  ['events not delivered', false, listed(() => ({ delivered: false }))],
  // In this history, unlike others, the event of a payment has the payment's ID.
  ['events of a payment', false, listed(({ eventId }) => ({ paymentId: eventId }))],
  ['history of a payment', false, (db, _, { eventId }) => readHistoricEvents(db, eventId)],
  ['attempts at a delivery', true, (db, _, { delivery }) => listAttempts(db, [delivery], PAGE)],
  [
    'a delivery',
    true,
    (db, { merchantId }, { id, endpointId }) => findOwnDelivery(db, { merchantId, endpointId }, id),
  ],
  [
    'deliveries of an endpoint',
    false,
    (db, { merchantId }, { endpointId }) =>
      listOwnDeliveries(db, { merchantId, endpointId }, {}, undefined, PAGE),
  ],
  [
    'endpoints in trouble',
    false,
    (db, { merchantId }) =>
      listTroubledEndpoints(db, merchantId, { since: new Date(), limit: PAGE }),
  ],
  ['endpoints with due deliveries', false, db => findDueEndpoints(db, new Date(), PAGE)],
  [
    'claim of deliveries',
    true,
    (db, _, { endpointId, eventId }) => {
      const now = new Date();
      const months = monthsOf([eventId]);
      return claimDeliveries(db, [{ endpointId, count: PAGE }], { now, until: now }, months);
    },
  ],
];

/**
 * Counts by the server's own statistics which partitions statements read: partitions that were pruned or never
 * reached have none.
 */
async function countMonthsRead({ defer }: Resources, side: Side): Promise<Finding[]> {
  const db = connect({
    url: side.url,
    applicationName: 'bench-months',
    poolSize: 1,
    plans: 'by-index',
    onIdleError: () => undefined,
  });
  defer(() => db.destroy());
  const delivery = await side.db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .orderBy('event_id', 'desc')
    .offset(sql<number>`(select count(*) / 2 from webhook_deliveries)`)
    .limit(1)
    .executeTakeFirstOrThrow();
  const { id, event_id: eventId, endpoint_id: endpointId } = delivery;
  const middle = { id, eventId, endpointId, delivery };
  const months = (await listPartitions(db)).filter(({ table }) => table === 'events').length;
  const findings: Finding[] = [];
  for (const [subject, knows, statement] of STATEMENTS) {
    const read = await db.transaction().execute(async tx => {
      const before = await countScans(tx);
      await statement(tx, side, middle);
      const after = await countScans(tx);
      return EVENT_TABLES.map(table => {
        const parts = [...after].filter(([name, { parent, scans }]) => {
          return parent === table && scans > (before.get(name)?.scans ?? 0);
        });
        return { table, count: parts.length };
      });
    });
    findings.push({
      subject: `months read: ${subject}`,
      measured: `of ${months}: ${read.map(({ table, count }) => `${table} ${count}`).join(', ')}`,
      value: Math.max(...read.map(({ count }) => count)),
      goal: knows ? { relation: '<=', value: MONTHS_READ } : null,
    });
  }
  return findings;
}

/** How often the transaction has read each partition. */
async function countScans(db: Connection) {
  const { rows } = await sql<{ name: string; parent: string; scans: number }>`
    select relname as name, inhparent::regclass::text as parent,
           coalesce(seq_scan, 0) + coalesce(idx_scan, 0) as scans
    from pg_stat_xact_user_tables join pg_inherits on inhrelid = relid`.execute(db);
  return new Map(rows.map(({ name, ...row }) => [name, row]));
}

/** Vacuums the largest partition of each table, and payments, with dead rows on every page. */
async function vacuum(db: Database): Promise<Finding[]> {
  const { rows: largest } = await sql<{ name: string }>`
    select distinct on (inhparent) inhrelid::regclass::text as name from pg_inherits
    where inhparent = any(${EVENT_TABLES}::regclass[])
    order by inhparent, pg_total_relation_size(inhrelid) desc`.execute(db);
  const seconds = async (name: string) => {
    await withoutTriggers(
      db,
      sql`update ${sql.table(name)} set id = id where hashtext(id::text) % ${sql.lit(DEAD_EVERY)} = 0`,
    );
    const statement = sql`vacuum (freeze, disable_page_skipping, index_cleanup on) ${sql.table(name)}`;
    return (await timed(() => statement.execute(db))) / 1000;
  };
  const each: [name: string, seconds: number][] = [];
  for (const { name } of largest) each.push([name, await seconds(name)]);
  const goal = { relation: '<=', value: VACUUM_SECONDS } as const;
  return [
    {
      subject: 'vacuum of a partition, in seconds',
      measured: each.map(([name, took]) => `${name} ${took.toFixed(1)}`).join(', '),
      value: Math.max(...each.map(([, took]) => took)),
      goal,
    },
    {
      subject: 'vacuum of payments, in seconds',
      measured: 'not partitioned',
      value: await seconds('payments'),
      goal,
    },
  ];
}

/** Runs a statement without triggers, like a replica, so that append-only tables can be changed. */
function withoutTriggers(db: Database, statement: RawBuilder<unknown>): Promise<void> {
  return db.transaction().execute(async tx => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await statement.execute(tx);
  });
}

/** Drops the oldest month as the worker does. */
async function dropMonth(db: Database): Promise<Finding> {
  const now = new Date();
  const month = monthFrom(now, -EVENT_MONTHS).toISOString().slice(0, 7);
  const parts = (await listPartitions(db)).filter(part => part.month === month);
  let dropped: string[] = [];
  const took = await timed(async () => {
    dropped = await dropPartitions(db, 'events', {
      now: monthFrom(now, 1 - EVENT_MONTHS),
      days: 0,
    });
  });
  if (dropped.length !== EVENT_TABLES.length) throw new VoidRun(`${dropped.length} were dropped`);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const gigabytes = (sum(parts.map(({ bytes }) => bytes)) / 1e9).toFixed(2);
  return {
    subject: 'a month dropped, in seconds',
    measured: `${month}: ${sum(parts.map(({ rows }) => rows))} rows, ${gigabytes} GB`,
    value: took / 1000,
    goal: { relation: '<=', value: DROP_SECONDS },
  };
}
