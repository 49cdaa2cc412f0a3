import { sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { Network } from '../database/tables.ts';

/** All networks (24), in the order of the documentation. */
export function listNetworks(db: Connection): Promise<Network[]> {
  return db.selectFrom('networks').selectAll().orderBy('position').execute();
}

/** The active networks, in the order of the documentation. */
export function listActiveNetworks(db: Connection): Promise<Network[]> {
  return db
    .selectFrom('networks')
    .selectAll()
    .where('is_active', '=', true)
    .orderBy('position')
    .execute();
}

/** Locks the active test networks that no operator has switched on, in the order of the documentation. */
export function lockShippedTestNetworks(db: Connection): Promise<Network[]> {
  return db
    .selectFrom('networks')
    .selectAll()
    .where('environment', '=', 'test')
    .where('is_active', '=', true)
    .where('switched_at', 'is', null)
    .orderBy('position')
    .forNoKeyUpdate()
    .execute();
}

export function findNetwork(db: Connection, id: string): Promise<Network | undefined> {
  return db.selectFrom('networks').selectAll().where('id', '=', id).executeTakeFirst();
}

/** The first of the networks, in the order given, whose transfers are simulated. */
export function findSimulatedNetwork(
  db: Connection,
  ids: readonly string[],
): Promise<Network | undefined> {
  return db
    .selectFrom('networks')
    .selectAll()
    .where('settled_by', '=', 'simulation')
    .where('id', 'in', ids)
    .orderBy(sql`array_position(${ids}::text[], id)`)
    .limit(1)
    .executeTakeFirst();
}

/** Updates the columns that operators may change; undefined leaves a column unchanged. */
export function updateNetwork(
  db: Connection,
  id: string,
  change: {
    is_active?: boolean | undefined;
    switched_at?: Date | undefined;
    window_minutes?: number | undefined;
    contract?: string | undefined;
    finality?: string | null | undefined;
  },
): Promise<Network | undefined> {
  return db
    .updateTable('networks')
    .set(change)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}
