import { type RawBuilder, sql } from 'kysely';
import { UUID } from '#schemas/uuid.ts';
import type { AuditLogEntry, ChangeOrigin } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { hasRow } from '../rows.ts';

/** One change by an operator; `detail` never contains a secret. */
interface AuditEntry {
  readonly id: string;
  readonly actor: string;
  /** The command that made the change, for example `key.rotate`. */
  readonly action: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly now: Date;
  /** The merchant or partner in whose panel it was made. Without one, the database adds that of the object. */
  readonly accountId?: string | null | undefined;
  readonly personId?: string | null | undefined;
  readonly origin?: ChangeOrigin | undefined;
  /** The client's IP address, in the panel. */
  readonly address?: string | null | undefined;
}

/** Call it in the transaction of the change. */
export async function insertAuditEntry(db: Connection, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      id: entry.id,
      at: entry.now,
      actor: entry.actor,
      action: entry.action,
      object_type: entry.objectType,
      object_id: entry.objectId,
      detail: JSON.stringify(entry.detail),
      account_id: entry.accountId ?? null,
      person_id: entry.personId ?? null,
      origin: entry.origin ?? null,
      address: entry.address ?? null,
    })
    .execute();
}

interface AuditQuery {
  /** Inclusive. */
  readonly since?: Date | undefined;
  readonly actor?: string | undefined;
  /** ID of an object, or of a merchant for all that belongs to it as well. */
  readonly objectId?: string | undefined;
  /** ID of an entry; returns older ones only. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first, at most `limit`. */
export function listAuditEntries(
  db: Connection,
  { since, actor, objectId, before, limit }: AuditQuery,
): Promise<AuditLogEntry[]> {
  let query = db
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (since !== undefined) query = query.where('at', '>=', since);
  if (actor !== undefined) query = query.where('actor', '=', actor);
  if (objectId !== undefined) {
    query = UUID.test(objectId)
      ? query.where(isAbout(objectId))
      : query.where('object_id', '=', objectId);
  }
  if (before !== undefined) {
    query = query.where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('at', 'id'),
        '<',
        selectFrom('audit_log').select(['at', 'id']).where('id', '=', before).$asTuple('at', 'id'),
      ),
    );
  }
  return query.execute();
}

/**
 * Whether an entry is about an object or, if that is a merchant, about what it has: branches, keys, users
 * and webhook endpoints by their owner, payments and what was assigned to them by the payment, dismissed
 * deposits by the merchants noted then.
 */
function isAbout(id: string): RawBuilder<boolean> {
  // The builder has neither JSON operators nor a cast within a case.
  return sql`(
    object_id = ${id}
    or object_id in (
      select id::text from branches where merchant_id = ${id}
      union all select id from api_keys where merchant_id = ${id}
      union all select id::text from merchant_users where merchant_id = ${id}
      union all select id::text from webhook_endpoints where merchant_id = ${id})
    or exists (
      select from payments where merchant_id = ${id} and id = case object_type
        when 'payment' then object_id::uuid else (detail ->> 'paymentId')::uuid end)
    or detail -> 'merchantIds' ? ${id})`;
}

/** How many entries an actor has made of one kind about an object, counted up to `most`. */
export async function countAuditEntries(
  db: Connection,
  { action, actor, objectId }: Pick<AuditEntry, 'action' | 'actor' | 'objectId'>,
  most: number,
): Promise<number> {
  const entries = await db
    .selectFrom('audit_log')
    .select('id')
    .where('object_id', '=', objectId)
    .where('action', '=', action)
    .where('actor', '=', actor)
    .limit(most)
    .execute();
  return entries.length;
}

export function auditEntryExists(db: Connection, id: string): Promise<boolean> {
  return hasRow(db.selectFrom('audit_log').select('id').where('id', '=', id));
}
