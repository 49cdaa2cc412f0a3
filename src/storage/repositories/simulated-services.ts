import type { Connection } from '../database/connection.ts';
import { hasRow } from './rows.ts';

/** Whether payments of live merchants may be simulated on this database, which its triggers go by. */
export function isSimulationAllowed(db: Connection): Promise<boolean> {
  return hasRow(db.selectFrom('simulated_services').select('one'));
}

/** Lets payments of live merchants be simulated on this database, from now on. */
export async function allowSimulation(db: Connection, now: Date): Promise<void> {
  await db
    .insertInto('simulated_services')
    .values({ since: now })
    .onConflict(conflict => conflict.doNothing())
    .execute();
}

/** Leaves simulation to test merchants. */
export async function forbidSimulation(db: Connection): Promise<void> {
  await db.deleteFrom('simulated_services').execute();
}
