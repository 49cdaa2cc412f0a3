import { v7 as uuidv7 } from 'uuid';
import type { Connection } from '../database/connection.ts';
import type { AuditLogEntry } from '../database/tables.ts';

/** One change by an operator; `detail` never contains a secret. */
export interface AuditEntry {
  readonly actor: string;
  /** The command that made the change, for example `key.rotate`. */
  readonly action: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly now: Date;
}

/** Call it in the transaction of the change. */
export async function insertAuditEntry(db: Connection, entry: AuditEntry): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({
      id: uuidv7(),
      at: entry.now,
      actor: entry.actor,
      action: entry.action,
      object_type: entry.objectType,
      object_id: entry.objectId,
      detail: JSON.stringify(entry.detail),
    })
    .execute();
}

export interface AuditQuery {
  /** Inclusive. */
  readonly since?: Date | undefined;
  readonly actor?: string | undefined;
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
  if (objectId !== undefined) query = query.where('object_id', '=', objectId);
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

export async function auditEntryExists(db: Connection, id: string): Promise<boolean> {
  const row = await db.selectFrom('audit_log').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}
