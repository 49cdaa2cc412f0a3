import { audited, type Operator } from '#accounts/audit/audited-change.ts';
import { chainOf, isChainId } from '#chains/chain-list.ts';
import { newId } from '#crypto/new-id.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Lineage } from '#storage/database/lineage-tables.ts';
import type { ChainState, Rescan } from '#storage/database/watching-tables.ts';
import { findChain, listChainsWithNodes } from '#storage/repositories/chains/chains.ts';
import { listSettledNetworks } from '#storage/repositories/chains/networks.ts';
import { addRescan } from '#storage/repositories/chains/rescans.ts';
import {
  beginLineage,
  insertRestore,
  lockRestore,
  readLineages,
} from '#storage/repositories/restores.ts';
import { withholdPending } from '#storage/repositories/webhooks/withheld.ts';
import { CommandRefused } from './command-refused.ts';

/** Deliveries per statement, so that each statement ends within its timeout. */
const BATCH = 10_000;

/**
 * Declares that the database was restored, if nothing outside of it has shown that. Writes are refused from then on.
 * @param to Time to which it was restored.
 * @throws CommandRefused for a time in the future, and while another restore waits for its confirmation.
 */
export function declareRestore(operator: Operator, to: Date): Promise<Lineage> {
  return audited(operator, 'restore.declare', async (tx, now) => {
    if (to > now) throw new CommandRefused(`${to.toISOString()} is yet to come.`);
    const { current, unconfirmed } = await readLineages(tx);
    if (unconfirmed !== undefined) {
      throw new CommandRefused('A restore waits for its confirmation: mp restore confirm.');
    }
    if (current === undefined) throw new CommandRefused('No service has worked on this database.');
    const id = newId();
    const restore = { id, noticedBy: operator.actor, restoredTo: to, lostUntil: null, now };
    await insertRestore(tx, restore, current.id);
    const result = await lockRestore(tx);
    if (result === undefined) throw new CommandRefused('Another lineage has just begun.');
    return { result, objectId: result.id, detail: { restoredTo: to } };
  });
}

/** The result of a confirmation. */
interface Confirmed {
  readonly lineage: Lineage;
  readonly rescans: readonly Rescan[];
  /** Number of pending webhooks that are not sent: they may have been sent in the time that is lost. */
  readonly withheld: number;
}

/**
 * Allows writes again. Chains are scanned again for every configured address, from where the restored database had
 * read them: transfers for lost payments are still there. Webhooks that the database has as pending are withheld.
 * @throws CommandRefused if no restore waits for its confirmation.
 */
export function confirmRestore(operator: Operator): Promise<Confirmed> {
  return audited(operator, 'restore.confirm', async (tx, now) => {
    const restore = await lockRestore(tx);
    if (restore === undefined) {
      throw new CommandRefused(
        'No restore waits for a confirmation. If the database was restored all the same: mp restore declare --to TIME.',
      );
    }
    const rescans = await queueRescans(tx, operator.actor, now);
    const withheld = await withholdOwed(tx, now);
    const lineage = await beginLineage(tx, restore.id, now);
    const { restored_to: restoredTo, lost_until: lostUntil } = restore;
    const networks = rescans.map(({ blockchain_id: id }) => id);
    const detail = { restoredTo, lostUntil, withheld, networks };
    return { result: { lineage, rescans, withheld }, objectId: restore.id, detail };
  });
}

async function withholdOwed(tx: Connection, now: Date): Promise<number> {
  let withheld = 0;
  let last = BATCH;
  while (last === BATCH) {
    last = await withholdPending(tx, now, BATCH);
    withheld += last;
  }
  return withheld;
}

/**
 * A rescan ends at the newest block at the latest, so its range may extend to the highest block that can exist by
 * now.
 */
async function queueRescans(tx: Connection, askedBy: string, now: Date): Promise<Rescan[]> {
  const rescans: Rescan[] = [];
  for (const id of (await listChainsWithNodes(tx)).filter(isChainId)) {
    const range = rangeToRescan(await findChain(tx, id), chainOf(id), now);
    if (range === undefined) continue;
    for (const { id: blockchainId } of await listSettledNetworks(tx, id)) {
      rescans.push(await addRescan(tx, { blockchainId, ...range, askedBy }, now));
    }
  }
  return rescans;
}

/** @returns undefined for a chain that was never read. */
function rangeToRescan(
  state: ChainState | undefined,
  { blockMs, ring }: { readonly blockMs: number; readonly ring: number },
  now: Date,
): { readonly from: number; readonly to: number } | undefined {
  if (state === undefined || state.cursor_height === null || state.polled_at === null) {
    return undefined;
  }
  const {
    cursor_height: cursor,
    head_height: head,
    swept_height: swept,
    polled_at: polled,
  } = state;
  const come = Math.ceil(Math.max(0, now.getTime() - polled.getTime()) / blockMs);
  return {
    from: Math.min(cursor, swept ?? cursor) + 1,
    to: Math.max(cursor, head ?? cursor) + come + ring,
  };
}
