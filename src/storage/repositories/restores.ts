import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { Lineage } from '../database/lineage-tables.ts';

/** The lineage of the database, and the restore that nobody has confirmed yet. */
export interface Lineages {
  readonly current: Lineage | undefined;
  /** The one before `current`; not read while a restore is unconfirmed. */
  readonly former: Lineage | undefined;
  readonly unconfirmed: Lineage | undefined;
}

export async function readLineages(db: Connection): Promise<Lineages> {
  return lineagesOf(await newestLineages(db).execute());
}

/** There is at most one that is unconfirmed, and it is the newest. */
function newestLineages(db: Connection) {
  return db.selectFrom('lineages').selectAll().orderBy('number', 'desc').limit(2);
}

function lineagesOf(rows: readonly Lineage[]): Lineages {
  const [unconfirmed] = rows.filter(row => row.begun_at === null);
  const [current, former] = rows.filter(row => row.begun_at !== null);
  return { current, former, unconfirmed };
}

/** A restore that somebody has confirmed. */
export interface ConfirmedRestore {
  readonly restoredTo: Date;
  readonly confirmedAt: Date;
  /** Until when merchants may have been told of what is lost. */
  readonly toldUntil: Date;
}

/** How late the mark, which is set each second, may be in a busy or paused process, in milliseconds. */
const MARK_LATE_MS = 60_000;

/** The restore that a lineage began with; null for the first one, and before it is confirmed. */
export function confirmedRestoreOf({
  restored_to: restoredTo,
  lost_until: lostUntil,
  begun_at: confirmedAt,
}: Lineage): ConfirmedRestore | null {
  if (restoredTo === null || confirmedAt === null) return null;
  const end = lostUntil === null ? confirmedAt.getTime() : lostUntil.getTime() + MARK_LATE_MS;
  const toldUntil = new Date(Math.min(end, confirmedAt.getTime()));
  return { restoredTo, confirmedAt, toldUntil };
}

/** Statements with a relaxed commit pass the write gate. If the commit is lost, the same is found out again. */
const RELAXED = sql`with relaxed as (select set_config('synchronous_commit', 'off', true))`;

/** Begins the first lineage, unless there is one. */
export async function beginFirstLineage(db: Connection, id: string, now: Date): Promise<void> {
  await sql`
    ${RELAXED}
    insert into lineages (id, noticed_at, noticed_by, begun_at)
    select ${id}::uuid, ${now}::timestamptz, 'service', ${now}::timestamptz from relaxed
    where not exists (select from lineages)`.execute(db);
}

/** What is known of a restore. */
interface NewRestore {
  readonly id: string;
  readonly noticedBy: string;
  readonly restoredTo: Date;
  readonly lostUntil: Date | null;
  readonly now: Date;
}

/**
 * Records that the database was restored, so that nothing is written until somebody confirms it. Does nothing while
 * another restore waits for its confirmation.
 * @param lineage Current lineage when the restore was found out; nothing is recorded if another has begun since.
 */
export async function insertRestore(
  db: Connection,
  { id, noticedBy, restoredTo, lostUntil, now }: NewRestore,
  lineage: string,
): Promise<void> {
  await sql`
    ${RELAXED}
    insert into lineages (id, noticed_at, noticed_by, restored_to, lost_until)
    select ${id}::uuid, ${now}::timestamptz, ${noticedBy}, ${restoredTo}::timestamptz, ${lostUntil}::timestamptz
    from relaxed
    where ${lineage}::uuid = (
      select id from lineages where begun_at is not null order by number desc limit 1)
    on conflict do nothing`.execute(db);
}

/** Locks the restore that nobody has confirmed yet, until the transaction ends. */
export function lockRestore(db: Connection): Promise<Lineage | undefined> {
  return db
    .selectFrom('lineages')
    .selectAll()
    .where('begun_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Begins the lineage of a restore, at the later time of two clocks: requests signed before that time are refused from
 * now on, and the clock of an operator's machine may be slow.
 */
export function beginLineage(db: Connection, id: string, now: Date): Promise<Lineage> {
  return db
    .updateTable('lineages')
    .set({ begun_at: sql<Date>`greatest(${now}::timestamptz, clock_timestamp())` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** IDs of the newest rows of tables whose rows are never deleted; null for an empty table. */
export interface NewestIds {
  readonly payment: string | null;
  readonly transition: string | null;
  readonly auditEntry: string | null;
}

const WATCHED = {
  payment: 'payments',
  transition: 'payment_transitions',
  auditEntry: 'audit_log',
} as const satisfies Record<keyof NewestIds, string>;

/** The lineages, the newest IDs in the database, and the IDs known outside that it lacks. */
export interface ComparedNewest extends Lineages {
  readonly newest: NewestIds;
  readonly lacking: readonly string[];
}

/**
 * Reads the lineages, the newest IDs, and which of some known IDs the database lacks. An ID can only be known after its
 * commit. Without a lineage all IDs are null.
 */
export async function compareNewest(
  db: Connection,
  known: NewestIds | null,
): Promise<ComparedNewest> {
  const kinds = Object.keys(WATCHED) as (keyof NewestIds)[];
  const columns = kinds.flatMap(kind => {
    const table = sql.table(WATCHED[kind]);
    const id = known?.[kind] ?? null;
    return [
      sql<string | null>`(select id from ${table} order by id desc limit 1)`.as(kind),
      sql<string | null>`(
        select ${id}::uuid where not exists (select from ${table} where id = ${id}::uuid))`.as(
        `lost ${kind}` as const,
      ),
    ];
  });
  const rows = await newestLineages(db).select(columns).execute();
  const idOf = (column: keyof NewestIds | `lost ${keyof NewestIds}`) => rows[0]?.[column] ?? null;
  return {
    ...lineagesOf(rows),
    newest: {
      payment: idOf('payment'),
      transition: idOf('transition'),
      auditEntry: idOf('auditEntry'),
    },
    lacking: kinds.map(kind => idOf(`lost ${kind}`)).filter(id => id !== null),
  };
}
