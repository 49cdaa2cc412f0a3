import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** Number of newest rows that show which accounts grow. */
const RECENT = 10_000;
/** Maximum number of accounts whose rows one statement counts, some 10 ms each; later calls count others. */
const ACCOUNTS_COUNTED = 20;

/**
 * Removes at most `limit` rows of accounts that have more than `kept`, the oldest of each. Only an account
 * that is among the newest rows can have grown; of very many a few are chosen at random.
 */
export async function deleteExcessRequests(
  db: Connection,
  kept: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    with growing as (
      select account_id
      from (select account_id from request_log order by id desc limit ${RECENT}) as recent
      group by account_id order by random() limit ${ACCOUNTS_COUNTED}),
    counted as materialized (
      select account_id, rows from growing cross join lateral (
        select count(*) as rows from request_log where account_id = growing.account_id) as own),
    excess as (
      select id from counted cross join lateral (
        select id from request_log where account_id = counted.account_id
        order by id limit least(rows - ${kept}, ${limit})) as oldest
      where rows > ${kept} limit ${limit})
    delete from request_log where id = any(array(select id from excess))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
