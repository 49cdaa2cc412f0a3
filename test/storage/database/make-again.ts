import type { Kysely, RawBuilder } from 'kysely';
import type { Database } from '#storage/database/connection.ts';

/**
 * Runs a migration step on a database with a history.
 * @param up The step.
 * @param undo Statements that undo the step.
 * @param history What happens while the database is without the step.
 */
export async function makeAgain(
  db: Database,
  up: (db: Kysely<unknown>) => Promise<void>,
  undo: readonly RawBuilder<unknown>[],
  history: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  for (const statement of undo) await statement.execute(db);
  await history();
  await up(db as unknown as Kysely<unknown>);
}
