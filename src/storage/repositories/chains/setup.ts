import type { Connection } from '../../database/connection.ts';
import type { Network, SettledBy } from '../../database/network-tables.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import { lockById } from '../rows.ts';

/** Locks a chain's row until the transaction ends, so that its nodes change one after the other. */
export const lockChainSetup = lockById('chains');

export async function setChainIdentity(
  db: Connection,
  id: string,
  identity: string,
): Promise<void> {
  await db.updateTable('chains').set({ identity }).where('id', '=', id).execute();
}

/** Takes a chain's lease away: a watcher that is at work can write nothing more. */
export function revokeLease(db: Connection, id: string): Promise<ChainState> {
  return db
    .updateTable('chains')
    .set(({ eb }) => ({
      lease_holder: null,
      lease_until: null,
      lease_epoch: eb('lease_epoch', '+', 1),
    }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Deletes the progress of a chain, and takes its lease away. */
export async function resetChain(db: Connection, id: string): Promise<void> {
  await db
    .updateTable('chains')
    .set({
      identity: null,
      cursor_height: null,
      cursor_hash: null,
      head_height: null,
      final_height: null,
      swept_height: null,
      polled_at: null,
      watched_until: null,
      expires_until: null,
      halted: null,
    })
    .where('id', '=', id)
    .execute();
  await revokeLease(db, id);
}

/** Deletes the balances that increases are measured from. */
export async function forgetBalances(db: Connection, chain: string): Promise<void> {
  await db
    .deleteFrom('held_balances')
    .using('networks')
    .whereRef('networks.id', '=', 'held_balances.blockchain_id')
    .where('networks.chain', '=', chain)
    .execute();
}

/** Networks of a chain, in the order of the documentation. */
export function listNetworksOfChain(db: Connection, chain: string): Promise<Network[]> {
  return db
    .selectFrom('networks')
    .selectAll()
    .where('chain', '=', chain)
    .orderBy('position')
    .execute();
}

export async function setSettledBy(
  db: Connection,
  networkId: string,
  settledBy: SettledBy,
): Promise<void> {
  await db
    .updateTable('networks')
    .set({ settled_by: settledBy })
    .where('id', '=', networkId)
    .execute();
}
