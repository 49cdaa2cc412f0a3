import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import { IS_WAITING } from './deposits.ts';

/** Whether a deposit went to an address that only this merchant ever had. */
function isOwn(merchantId: string): RawBuilder<boolean> {
  return sql<boolean>`
    exists (select from account_addresses as own
            where own.blockchain_id = deposits.blockchain_id and own.address = deposits.address
              and own.merchant_id = ${merchantId})
    and not exists (select from account_addresses as other
                    where other.blockchain_id = deposits.blockchain_id
                      and other.address = deposits.address and other.merchant_id <> ${merchantId})`;
}

const waiting = (db: Connection, merchantId: string) =>
  db.selectFrom('deposits').where(IS_WAITING).where(isOwn(merchantId));

/**
 * A merchant's deposits that no payment took and nobody has settled, oldest first.
 * @param after ID of the last one of the page before.
 */
export function listOwnUnmatched(
  db: Connection,
  merchantId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<Deposit[]> {
  let query = waiting(db, merchantId).selectAll('deposits');
  if (after !== undefined) {
    query = query.where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('observed_at', 'id'),
        '>',
        selectFrom('deposits')
          .select(['observed_at', 'id'])
          .where('id', '=', after)
          .$asTuple('observed_at', 'id'),
      ),
    );
  }
  return query.orderBy('observed_at').orderBy('id').limit(limit).execute();
}

/** Undefined for a deposit of others, or one that waits no more, as for a missing one. */
export function findOwnUnmatched(
  db: Connection,
  merchantId: string,
  id: string,
): Promise<Deposit | undefined> {
  return waiting(db, merchantId).selectAll('deposits').where('id', '=', id).executeTakeFirst();
}

/** How many wait, counted up to `maximum`. */
export async function countOwnUnmatched(
  db: Connection,
  merchantId: string,
  maximum: number,
): Promise<number> {
  const rows = await waiting(db, merchantId).select('deposits.id').limit(maximum).execute();
  return rows.length;
}
