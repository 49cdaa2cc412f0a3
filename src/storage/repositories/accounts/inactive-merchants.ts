import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/**
 * Locks at most `limit` on-chain payments of inactive merchants that are open and without any funds;
 * skips rows locked by others. Reads the inactive merchants, which are few, and then their payments: it
 * runs all the time, and most open payments belong to active ones.
 * @returns IDs of the payments.
 */
export async function lockOpenOfInactive(db: Connection, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select open.id
    from merchants cross join lateral (
      select id from payments
      where merchant_id = merchants.id and status = 'pending' and session_status = 'pending'
        and flow = 'crypto'
        and not exists (
          select from deposits
          where payment_id = payments.id and outcome = 'under' and state in ('seen', 'final'))
      limit ${limit} for update skip locked) as open
    where merchants.status = 'inactive'
    limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Sets the next inquiry about at most `limit` open regulated payments of inactive merchants to `now`, where it
 * is due after `latest`; skips rows locked by others.
 */
export async function hastenInquiries(
  db: Connection,
  { now, latest }: { now: Date; latest: Date },
  limit: number,
): Promise<void> {
  await sql`
    update payments set inquire_at = ${now}
    where id in (
      select open.id
      from merchants cross join lateral (
        select id from payments
        where merchant_id = merchants.id and status = 'pending' and session_status = 'pending'
          and flow = 'regulated' and coalesce(inquire_at, expires_at) > ${latest}
        limit ${limit} for update skip locked) as open
      where merchants.status = 'inactive'
      limit ${limit})`.execute(db);
}
