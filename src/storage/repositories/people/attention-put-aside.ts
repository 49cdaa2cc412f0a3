import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { deleteWhere } from '../rows.ts';

/** Whose it is that something was put aside, and in which account. */
interface PutAsideOwner {
  readonly person_id: string;
  readonly account_id: string;
}

interface PutAside extends PutAsideOwner {
  readonly item: string;
}

/** What a person has put aside in an account, as JSON: an expression for a statement. */
export function putAsideBy({ person_id, account_id }: PutAsideOwner): RawBuilder<string[]> {
  return sql`(
    select coalesce(json_agg(item), '[]') from attention_put_aside
    where person_id = ${person_id} and account_id = ${account_id})`;
}

/**
 * Puts an item aside, or again.
 * @param maximum Most rows of a person, in all accounts; the oldest are removed.
 */
export async function insertPutAside(
  db: Connection,
  { person_id, account_id, item, at }: PutAside & { readonly at: Date },
  maximum: number,
): Promise<void> {
  await sql`
    with added as (
      insert into attention_put_aside (person_id, account_id, item, at)
      values (${person_id}, ${account_id}, ${item}, ${at})
      on conflict (person_id, account_id, item) do update set at = excluded.at
    )
    delete from attention_put_aside where person_id = ${person_id} and (account_id, item) in (
      select account_id, item from attention_put_aside
      where person_id = ${person_id} and (account_id, item) <> (${account_id}::uuid, ${item})
      order by at desc offset ${maximum - 1})`.execute(db);
}

export const deletePutAside = deleteWhere('attention_put_aside', 'person_id', 'account_id', 'item');
