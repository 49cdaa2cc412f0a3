import type { Connection } from '../../database/connection.ts';
import type { ChainState } from '../../database/watching-tables.ts';
import { listBy, lockById, updateByIdOrThrow } from '../rows.ts';

/** Locks a chain's row until the transaction ends, so that its nodes change one after the other. */
export const lockChainSetup = lockById('chains');

const updateChainSetup = updateByIdOrThrow('chains');

export async function setChainIdentity(
  db: Connection,
  id: string,
  identity: string,
): Promise<void> {
  await updateChainSetup(db, id, { identity });
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
  await updateChainSetup(db, id, {
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
  });
  await revokeLease(db, id);
}

/** Networks of a chain, in the order of the documentation. */
export const listNetworksOfChain = listBy('networks', 'chain', ['position'], 1_000);
