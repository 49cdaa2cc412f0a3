import type { Command } from 'commander';
import { printJson, printLines } from './print.ts';
import { withStorage } from './session.ts';
import type { Terminal } from './terminal.ts';
import { addJsonFlag, type JsonFlag } from './values.ts';

/** `mp migrate` */
export function define(command: Command, terminal: Terminal): void {
  addJsonFlag(command).action((flags: JsonFlag) =>
    withStorage(terminal, async storage => {
      const { migrateStorage } = await import('../runtime/storage.ts');
      const applied = await migrateStorage(storage);
      if (flags.json) printJson(terminal, { applied });
      else printLines(terminal, applied.length === 0 ? ['The database is up to date.'] : applied);
    }),
  );
}
