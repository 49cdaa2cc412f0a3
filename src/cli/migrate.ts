import type { CliCommand } from './cli-command.ts';
import { type JsonFlag, printJson, printLines } from './print.ts';
import { withStorage } from './session.ts';

/** `mp migrate` */
export function define(command: CliCommand): void {
  const { terminal } = command;
  command.json().action(({ json }: JsonFlag) =>
    withStorage(terminal, async (storage, { migrationUrl }) => {
      const { migrateStorage, refusePooler } = await import('../runtime/storage.ts');
      if (migrationUrl !== null) {
        await refusePooler('MIGRATION_DATABASE_URL', migrationUrl, 'eps-migrate');
      }
      const { applied, createdRole } = await migrateStorage(storage);
      if (json) return printJson(terminal, { applied, createdRole });
      const created = createdRole === null ? [] : [`The role ${createdRole} has been created.`];
      const migrations = applied.length === 0 ? ['The database is up to date.'] : applied;
      printLines(terminal, [...migrations, ...created]);
    }),
  );
}
