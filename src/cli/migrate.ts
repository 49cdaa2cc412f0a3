import type { CliCommand } from './cli-command.ts';
import { type JsonFlag, printJson, printLines } from './print.ts';
import { withProgress } from './progress.ts';
import { withStorage } from './session.ts';
import { CommandFailed } from './terminal.ts';

/** `mp migrate` */
export function define(command: CliCommand): void {
  const { terminal } = command;
  command.json().action(({ json }: JsonFlag) =>
    withStorage(terminal, async (storage, { migrationUrl, databaseDirectUrl }) => {
      const [{ migrateStorage, refusePooler }, { describeFailure }] = await Promise.all([
        import('#runtime/storage.ts'),
        import('./failure.ts'),
      ]);
      const direct = databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
      const owner = migrationUrl === null ? direct : 'MIGRATION_DATABASE_URL';
      if (migrationUrl !== null) {
        await refusePooler('MIGRATION_DATABASE_URL', migrationUrl, 'eps-migrate');
      }
      const { applied, createdRole } = await withProgress(terminal, 'mp migrate', report =>
        migrateStorage(storage, report),
      ).catch((error: unknown) => {
        throw new CommandFailed(describeFailure(error, owner), { cause: error });
      });
      if (json) return printJson(terminal, { applied, createdRole });
      const created = createdRole === null ? [] : [`The role ${createdRole} has been created.`];
      const migrations = applied.length === 0 ? ['The database is up to date.'] : applied;
      printLines(terminal, [...migrations, ...created]);
    }),
  );
}
