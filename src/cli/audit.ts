import type { AuditLogEntry } from '#storage/database/account-tables.ts';
import { auditEntryExists, listAuditEntries } from '#storage/repositories/accounts/audit-log.ts';
import { type CliCommand, type PageFlags, pageNote } from './cli-command.ts';
import { CommandFailed } from './terminal.ts';
import { parseDate, parseName, parseObjectId } from './values.ts';

interface AuditFlags extends PageFlags {
  readonly since?: Date;
  readonly actor?: string;
  readonly object?: string;
}

/** Text that needs no quotes between the other details of a line. */
const PLAIN = /^[^\s"'={}[\],\p{Cc}]+$/u;

/** `mp audit` */
export function define(command: CliCommand): void {
  command
    .json()
    .paged('audit entry')
    .option('--since <date>', 'only changes since this ISO 8601 date-time or date', parseDate)
    .option('--actor <name>', 'only changes by this operator', parseName)
    .option(
      '--object <id>',
      'only changes of the object with this ID; of a merchant, also of what belongs to it',
      parseObjectId,
    )
    .addHelpText('after', '\nNewest first. Secrets are never written to the audit log.')
    .onDatabase(async ({ db, show, showList }, flags: AuditFlags) => {
      const { since, actor, object: objectId, limit, before } = flags;
      if (before !== undefined && !(await auditEntryExists(db, before))) {
        throw new CommandFailed(`There is no audit entry ${before}.`);
      }
      const page = await listAuditEntries(db, { since, actor, objectId, before, limit });
      const entries = page.map(auditObject);
      if (flags.json) return show(entries);
      const rows = entries.map(({ at, actor, action, objectType, objectId, detail }) => ({
        at,
        actor,
        action,
        object: `${objectType} ${objectId}`,
        detail: detailText(detail),
      }));
      const columns = ['at', 'actor', 'action', 'object', 'detail'] as const;
      showList(rows, columns, pageNote(entries, flags));
    });
}

function auditObject(entry: AuditLogEntry) {
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

/** Details on one line, as in `name="Web shop" immediately=true`; null for none. */
function detailText(detail: unknown): string | null {
  if (typeof detail !== 'object' || detail === null) return null;
  const fields = Object.entries(detail).map(([name, value]) => `${name}=${valueText(value)}`);
  return fields.length === 0 ? null : fields.join(' ');
}

function valueText(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
}
