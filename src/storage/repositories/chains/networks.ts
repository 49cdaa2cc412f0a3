import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Network } from '../../database/network-tables.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import { findById, hasRow, updateById } from '../rows.ts';

/** A network, and how far its chain is watched. */
export interface NetworkOnChain
  extends Network,
    Pick<ChainState, 'head_height' | 'watched_until' | 'halted'> {}

/** All networks (24), in the order of the documentation. */
export function listNetworks(db: Connection): Promise<Network[]> {
  return db.selectFrom('networks').selectAll().orderBy('position').execute();
}

/** All networks (24) with their chains, in the order of the documentation. */
export function listNetworksOnChains(db: Connection): Promise<NetworkOnChain[]> {
  return networksOnChains(db).orderBy('networks.position').execute();
}

/** The active networks, in the order of the documentation. */
export function listActiveNetworks(db: Connection): Promise<NetworkOnChain[]> {
  return networksOnChains(db).where('is_active', '=', true).orderBy('networks.position').execute();
}

function networksOnChains(db: Connection) {
  return db
    .selectFrom('networks')
    .innerJoin('chains', 'chains.id', 'networks.chain')
    .selectAll('networks')
    .select(['chains.head_height', 'chains.watched_until', 'chains.halted']);
}

/** Locks the active test networks that no operator has switched on, in the order of the documentation. */
export function lockShippedTestNetworks(db: Connection): Promise<Network[]> {
  return shippedTestNetworks(db).selectAll().orderBy('position').forNoKeyUpdate().execute();
}

/** Whether there are networks that `lockShippedTestNetworks` would lock. */
export function hasShippedTestNetworks(db: Connection): Promise<boolean> {
  return hasRow(shippedTestNetworks(db).select('id'));
}

function shippedTestNetworks(db: Connection) {
  return db
    .selectFrom('networks')
    .where('environment', '=', 'test')
    .where('is_active', '=', true)
    .where('switched_at', 'is', null);
}

export const findNetwork = findById('networks');

/** The first of the networks, in the order given, whose transfers are simulated. */
export function findSimulatedNetwork(
  db: Connection,
  ids: readonly string[],
): Promise<Network | undefined> {
  return (
    db
      .selectFrom('networks')
      .selectAll()
      .where('settled_by', '=', 'simulation')
      .where('id', 'in', ids)
      // The cast of the array makes its type that of the column.
      .orderBy(sql`array_position(${ids}::text[], id)`)
      .limit(1)
      .executeTakeFirst()
  );
}

/** The networks of a chain whose payments a node settles (at most 3). */
export function listSettledNetworks(db: Connection, chain: string): Promise<Network[]> {
  return db
    .selectFrom('networks')
    .selectAll()
    .where('chain', '=', chain)
    .where('settled_by', '=', 'chain')
    .orderBy('position')
    .execute();
}

export function findNetworkOnChain(
  db: Connection,
  id: string,
): Promise<NetworkOnChain | undefined> {
  return networksOnChains(db).where('networks.id', '=', id).executeTakeFirst();
}

/** Updates columns of a network; undefined leaves one unchanged. */
export const updateNetwork = updateById('networks');
