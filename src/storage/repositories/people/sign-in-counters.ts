import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { insertInto } from '../rows.ts';

export interface AttemptLimits {
  /**
   * Failures after which attempts are refused for `windowMs`. The count only restarts after as long without a failure,
   * so this many within any `windowMs` suffice.
   */
  readonly failures: number;
  readonly windowMs: number;
  /** Failures in a row after which they are refused for good. */
  readonly inRow: number;
}

/** Whether an attempt may be made; the `last` one is followed by refusals, unless it succeeds. */
export type Admission = 'admitted' | 'last' | 'refused';

/**
 * Counts an attempt as failed before it is checked, so that concurrent attempts all count; a success forgets them
 * all.
 */
export async function countAttempt(
  db: Connection,
  key: Buffer,
  { failures, windowMs, inRow }: AttemptLimits,
  now: Date,
): Promise<Admission> {
  const before = new Date(now.getTime() - windowMs);
  const blockedUntil = new Date(now.getTime() + windowMs);
  // In SQL, since each column has a case of its own on conflict.
  const { rows } = await sql<{ isLast: boolean }>`
    insert into sign_in_counters as counter (key, failures, in_row, began_at, updated_at)
    values (${key}, 1, 1, ${now}, ${now})
    on conflict (key) do update set
      failures = case when counter.updated_at <= ${before} then 1 else counter.failures + 1 end,
      began_at = case when counter.updated_at <= ${before} then ${now} else counter.began_at end,
      in_row = counter.in_row + 1,
      blocked_until = case
        when counter.updated_at > ${before} and counter.failures + 1 >= ${failures}
        then ${blockedUntil}::timestamptz end,
      updated_at = ${now}
    where (counter.blocked_until is null or counter.blocked_until <= ${now})
      and counter.in_row < ${inRow}
    returning failures >= ${failures} or in_row >= ${inRow} as "isLast"`.execute(db);
  const [counted] = rows;
  if (counted === undefined) return 'refused';
  return counted.isLast ? 'last' : 'admitted';
}

export async function forgetAttempts(db: Connection, keys: readonly Buffer[]): Promise<void> {
  await db.deleteFrom('sign_in_counters').where('key', 'in', keys).execute();
}

export const insertDevice = insertInto('known_devices');

/** Token hashes of the devices that have signed in as a person, newest first, at most a thousand. */
export async function listDevices(db: Connection, personId: string): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('known_devices')
    .select('token_hash')
    .where('person_id', '=', personId)
    .orderBy('created_at', 'desc')
    .limit(1_000)
    .execute();
  return rows.map(({ token_hash: hash }) => hash);
}
