import { newId } from '#crypto/new-id.ts';
import type { Finding } from '#storage/database/watching-tables.ts';
import { addFinding, resolveFinding } from '#storage/repositories/chains/findings.ts';
import { sumArrivals } from '#storage/repositories/deposits/watched-deposits.ts';
import { addUntraceableEvents } from '../../settlement/unmatched-events.ts';
import type { Watcher } from '../watcher.ts';
import { listConcerned, listInTurn } from './open-findings.ts';
import { rescanRange } from './rescan.ts';
import type { Round } from './round.ts';
import { unlessNodeFails } from './unless-node-fails.ts';

/** Kind of the findings. */
export const UNEXPLAINED = 'unexplained_inflow';
/** Findings that are retried at a time: each takes several calls. */
const RETRIED_MAXIMUM = 5;

/** A rise of a balance that no transfer explains. */
export interface Inflow {
  readonly network: string;
  readonly address: string;
  /** In the asset's smallest unit. */
  readonly amount: bigint;
  /** It came in a block above `from` up to `to`. */
  readonly from: number;
  readonly to: number;
  /** For operators. */
  readonly detail: string;
}

/**
 * Adds a finding for the operator, which holds the payments of the address, and events for the merchants that have
 * the address.
 * @throws LeaseLost.
 */
export async function reportUnexplained(
  { chain, clock, lease, log }: Watcher,
  { network, address, amount, from, to, detail }: Inflow,
): Promise<void> {
  const id = newId();
  const isNew = await lease.writeBeside(async tx => {
    const now = new Date(clock());
    const place = { blockchainId: network, address };
    const found = {
      chain: chain.id,
      kind: UNEXPLAINED,
      amount,
      height: to,
      sinceHeight: from,
      detail,
    };
    const added = await addFinding(tx, { id, ...place, ...found }, now);
    if (added) await addUntraceableEvents(tx, { id, ...place, tokenAmount: amount }, now);
    return added;
  });
  if (isNew) log.warn({ chain: chain.id, network, address, height: to }, 'unexplained inflow');
}

/**
 * Reads blocks again in which balances rose without an explanation, by the node of the round and by another one. A
 * finding is resolved once the transfers recorded since explain it.
 * @throws LeaseLost.
 */
export async function retryUnexplained(watcher: Watcher, round: Round): Promise<void> {
  const { chain, log, nodes } = watcher;
  const message = 'blocks of an unexplained inflow cannot be read again';
  for (const finding of await listInTurn(watcher, UNEXPLAINED, RETRIED_MAXIMUM)) {
    await unlessNodeFails(log, { chain: chain.id }, message, async () => {
      if (await resolveExplained(watcher, finding)) return;
      await readAgain(watcher, round, finding);
      if (await resolveExplained(watcher, finding)) return;
      const node = await nodes.another(round.node.id, round.signal);
      if (node === null) return;
      await readAgain(watcher, { ...round, node }, finding);
      await resolveExplained(watcher, finding);
    });
  }
}

async function readAgain(watcher: Watcher, round: Round, finding: Finding): Promise<void> {
  const { height, since_height: since } = finding;
  if (height === null) return;
  const watch = await listConcerned(watcher, finding);
  await rescanRange(watcher, round, watch, { from: (since ?? height - 1) + 1, to: height });
}

/** Resolves a finding if transfers that were recorded since then amount to the inflow. Returns whether they do. */
async function resolveExplained(
  { clock, db, lease }: Watcher,
  { id, blockchain_id: network, address, amount, found_at: foundAt, ...finding }: Finding,
): Promise<boolean> {
  const { height: to, since_height: since } = finding;
  if (network === null || address === null || amount === null || to === null) return false;
  const range = { from: since ?? to - 1, to };
  const arrived = await sumArrivals(db, network, range, [address], foundAt);
  if ((arrived.get(address) ?? 0n) < BigInt(amount)) return false;
  await lease.writeBeside(tx => resolveFinding(tx, id, new Date(clock())));
  return true;
}
