import type { Command } from 'commander';
import { OperationRefused } from '../accounts/operation.ts';
import { auditEntryExists, listAuditEntries } from '../repositories/audit-log.ts';
import { auditObject } from './audit-object.ts';
import { detailText } from './detail-text.ts';
import { printJson, printList } from './print.ts';
import { withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import {
  addJsonFlag,
  addPageFlags,
  type PageFlags,
  pageNote,
  parseDate,
  parseName,
  parseObjectId,
} from './values.ts';

interface AuditFlags extends PageFlags {
  readonly since?: Date;
  readonly actor?: string;
  readonly object?: string;
}

/** `mp audit` */
export function define(command: Command, terminal: Terminal): void {
  addPageFlags(addJsonFlag(command), 'audit entry')
    .option('--since <date>', 'only from this time on: RFC 3339, or a date', parseDate)
    .option('--actor <name>', 'only what this operator changed', parseName)
    .option('--object <id>', 'only changes of what has this ID', parseObjectId)
    .addHelpText('after', '\nNewest first. Secrets are never written to the audit log.')
    .action((flags: AuditFlags) =>
      withSession(terminal, async ({ db }) => {
        const { since, actor, object: objectId, limit, before } = flags;
        if (before !== undefined && !(await auditEntryExists(db, before))) {
          throw new OperationRefused(`There is no audit entry ${before}.`);
        }
        const page = await listAuditEntries(db, { since, actor, objectId, before, limit });
        const entries = page.map(auditObject);
        if (flags.json) return printJson(terminal, entries);
        const lines = entries.map(({ at, actor, action, objectType, objectId, detail }) => ({
          at,
          actor,
          action,
          object: `${objectType} ${objectId}`,
          detail: detailText(detail),
        }));
        const columns = ['at', 'actor', 'action', 'object', 'detail'] as const;
        printList(terminal, flags, lines, columns, pageNote(entries, flags));
      }),
    );
}
