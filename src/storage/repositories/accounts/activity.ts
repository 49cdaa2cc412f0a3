import { type RawBuilder, sql } from 'kysely';
import { UUID } from '#schemas/uuid.ts';
import type { AuditLogEntry } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { PageCursor } from '../rows.ts';

/** An entry of the audit log, with the names of who made the change and of what was changed. */
export type ActivityRow = AuditLogEntry & {
  readonly person_name: string | null;
  /** Its name; for a webhook endpoint, its present origin, since path and query may hold secrets. */
  readonly object_name: string | null;
  /** Name of the branch that a change of the main branch replaced. */
  readonly replaced_name: string | null;
};

/**
 * What was changed in an account: at most `limit` entries next to the cursor in its direction, newest first, but
 * oldest first for `newer`. Without a cursor, the newest.
 */
export function listActivity(
  db: Connection,
  accountId: string,
  cursor: PageCursor | undefined,
  limit: number,
): Promise<ActivityRow[]> {
  const order = cursor?.direction === 'newer' ? 'asc' : 'desc';
  let page = db
    .selectFrom('audit_log')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('at', order)
    .orderBy('id', order)
    .limit(limit);
  if (cursor !== undefined) {
    page = page.where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('at', 'id'),
        order === 'asc' ? '>' : '<',
        selectFrom('audit_log as edge')
          .select(['edge.at', 'edge.id'])
          .where('edge.id', '=', cursor.id)
          .where('edge.account_id', '=', accountId)
          .$asTuple('at', 'id'),
      ),
    );
  }
  return db
    .selectFrom(page.as('entry'))
    .selectAll('entry')
    .select(({ ref, selectFrom }) => [
      selectFrom('people')
        .select('people.name')
        .where('people.id', '=', ref('entry.person_id'))
        .as('person_name'),
      nameOfObject.as('object_name'),
      nameOfReplaced.as('replaced_name'),
    ])
    .orderBy('entry.at', order)
    .orderBy('entry.id', order)
    .execute();
}

// The table that has the name depends on `object_type`. Only IDs that are UUIDs are cast.
const toUuid = (text: RawBuilder<unknown>) =>
  sql`case when ${text} ~* ${sql.lit(UUID.source)} then (${text})::uuid end`;
const objectId = toUuid(sql`entry.object_id`);
const nameOfObject = sql<string | null>`case entry.object_type
  when 'user' then (select name from merchant_users where id = ${objectId})
  when 'member' then (select name from partner_members where id = ${objectId})
  when 'person' then (select name from people where id = ${objectId})
  when 'branch' then (select name from branches where id = ${objectId})
  when 'address' then (select name from branches where id = ${objectId})
  when 'key' then (select name from api_keys where id = entry.object_id)
  when 'webhook' then (
    select substring(url from '^https?://[^/?#]+') from webhook_endpoints where id = ${objectId})
end`;
const nameOfReplaced = sql<string | null>`case entry.object_type
  when 'branch' then (
    select name from branches where id = ${toUuid(sql`entry.detail -> 'replaced' ->> 0`)})
end`;
