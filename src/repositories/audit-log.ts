import { v7 as uuidv7 } from 'uuid';
import type { Connection } from '../database/connection.ts';

/** One change by an operator; `detail` never holds a secret. */
export interface AuditEntry {
  readonly actor: string;
  /** Verb of the change in the command line's words, e.g. `key.rotate`. */
  readonly action: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly now: Date;
}

/** Adds to the audit log; call it in the transaction of the change itself. */
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
