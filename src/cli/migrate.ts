import type { Command } from 'commander';
import { withStorage } from './accounts/session.ts';
import { printJson, printLines } from './print.ts';
import type { Terminal } from './terminal.ts';
import { addJsonFlag, type JsonFlag } from './values.ts';

/** `mp migrate` */
export function define(command: Command, terminal: Terminal): void {
  addJsonFlag(command).action((flags: JsonFlag) =>
    withStorage(terminal, async (storage, { migrationUrl }) => {
      const { migrateStorage, refusePooler } = await import('../runtime/storage.ts');
      if (migrationUrl !== null) {
        await refusePooler('MIGRATION_DATABASE_URL', migrationUrl, 'eps-migrate');
      }
      const { applied, createdRole } = await migrateStorage(storage);
      if (flags.json) {
        printJson(terminal, { applied, createdRole });
        return;
      }
      const created = createdRole === null ? [] : [`The role ${createdRole} has been created.`];
      const migrations = applied.length === 0 ? ['The database is up to date.'] : applied;
      printLines(terminal, [...migrations, ...created]);
    }),
  );
}
