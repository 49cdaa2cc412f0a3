import type { AuditLogEntry } from '../database/tables.ts';

/** A change by an operator as the command line shows it. */
export function auditObject(entry: AuditLogEntry) {
  return {
    id: entry.id,
    at: entry.at,
    actor: entry.actor,
    action: entry.action,
    objectType: entry.object_type,
    objectId: entry.object_id,
    detail: entry.detail,
  };
}
