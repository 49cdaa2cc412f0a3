import { audited, type Operator } from '#accounts/audit/audited-change.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { ChainState, Finding, Rescan } from '#storage/database/watching-tables.ts';
import { cutRing } from '#storage/repositories/chains/blocks.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { resolveFinding } from '#storage/repositories/chains/findings.ts';
import { cutBalances } from '#storage/repositories/chains/held-balances.ts';
import { findNetworkOnChain, type NetworkOnChain } from '#storage/repositories/chains/networks.ts';
import { listNodes } from '#storage/repositories/chains/nodes.ts';
import { addRescan } from '#storage/repositories/chains/rescans.ts';
import { lockChainSetup, revokeLease } from '#storage/repositories/chains/setup.ts';
import { unplaceAbove } from '#storage/repositories/deposits/watched-deposits.ts';
import { CommandRefused } from './command-refused.ts';
import { requireChain } from './node-tools.ts';

/** Maximum number of blocks of one rescan: two weeks of Ethereum, or half a day of BNB Smart Chain. */
export const RESCAN_MAXIMUM = 100_000;

/** Blocks that an operator asks for, both ends included. */
export interface BlockRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Queues blocks to be scanned again, for every address that is configured on the network.
 * @throws CommandRefused for an unknown network, one that no node settles, and a range that is empty,
 * too long, or above the newest block.
 */
export function queueRescan(
  operator: Operator,
  blockchainId: string,
  { from, to }: BlockRange,
): Promise<Rescan> {
  return audited(operator, 'network.rescan', async (tx, now) => {
    const { chain, head_height: head } = await requireSettled(tx, blockchainId);
    requireRange({ from, to }, 'rescan');
    if (head === null) throw new CommandRefused(`No worker has watched ${chain} yet.`);
    if (to > head) throw new CommandRefused(`The newest block of ${chain} is ${head}.`);
    const rescan = { blockchainId, from, to, askedBy: operator.actor };
    const result = await addRescan(tx, rescan, now);
    return { result, objectId: blockchainId, detail: { rescan: result.id, from, to } };
  });
}

/** @throws CommandRefused for a range that is empty or too long. */
export function requireRange({ from, to }: BlockRange, what: 'rescan' | 'audit'): void {
  if (to < from) throw new CommandRefused(`Block ${to} is below block ${from}.`);
  if (to - from < RESCAN_MAXIMUM) return;
  throw new CommandRefused(
    `These are ${to - from + 1} blocks; one ${what} takes at most ${RESCAN_MAXIMUM}.`,
  );
}

/**
 * Resumes watching a chain, from the given block or after the last one that was scanned. Deposits that are not final
 * and may have been undone are looked up again.
 * @throws CommandRefused for an unknown chain, one without nodes, and one that is not halted if no block is given,
 * or one above its newest.
 */
export function resumeWatching(
  operator: Operator,
  id: string,
  from: number | null,
): Promise<ChainState> {
  const chain = requireChain(id);
  return audited(operator, 'network.resume', async (tx, now) => {
    const state = await lockChainSetup(tx, chain.id);
    if (state === undefined) throw new Error(`there is no row of ${id}`);
    if ((await listNodes(tx, id)).length === 0) throw new CommandRefused(withoutNode(id));
    const { halted, head_height: head } = state;
    if (from === null && halted === null) {
      throw new CommandRefused(`${id} is not halted. To scan it again, give --from BLOCK.`);
    }
    // The head of a halted chain may come from a wrong node.
    if (from !== null && halted === null && head !== null && from > head) {
      throw new CommandRefused(`The newest block of ${id} is ${head}.`);
    }
    if (from === null) {
      // The next tick accepts the block that the node has at the cursor, if there is one.
      await updateChain(tx, id, {
        halted: null,
        cursor_hash: state.cursor_height === null ? null : '',
      });
    } else {
      const cursor = from - 1;
      await cutRing(tx, id, cursor);
      await cutBalances(tx, id, cursor);
      const place = { cursor_height: cursor, cursor_hash: '', swept_height: cursor };
      await updateChain(tx, id, { ...place, halted: null, polled_at: null });
    }
    const result = await revokeLease(tx, id);
    // If the chain is halted, any recorded block may have been undone.
    await unplaceAbove(tx, id, from === null || halted !== null ? -1 : from - 1, now);
    const detail = { from, halted, cursor: state.cursor_height };
    return { result, objectId: id, detail };
  });
}

/**
 * Closes a finding that an operator has investigated.
 * @param note The outcome, for the audit log.
 * @throws CommandRefused for an unknown finding, and one that is resolved.
 */
export function closeFinding(operator: Operator, id: string, note?: string): Promise<Finding> {
  return audited(operator, 'finding.resolve', async (tx, now) => {
    const result = await resolveFinding(tx, id, now);
    if (result === undefined) throw new CommandRefused(`There is no open finding ${id}.`);
    const { chain, kind } = result;
    const detail = { chain, kind, ...(note === undefined ? {} : { note }) };
    return { result, objectId: id, detail };
  });
}

/** @throws CommandRefused for an unknown network, and one whose payments no node settles. */
export async function requireSettled(db: Connection, id: string): Promise<NetworkOnChain> {
  const network = await findNetworkOnChain(db, id);
  if (network === undefined) throw new CommandRefused(`There is no network ${id}.`);
  if (network.settled_by === 'chain') return network;
  throw new CommandRefused(
    network.settled_by === 'simulation'
      ? withoutNode(network.chain)
      : `No primary node of ${network.chain} has been found to see payments on ${id}: see mp node test ID.`,
  );
}

function withoutNode(chain: string): string {
  return `${chain} has no node: nothing is watched there. Add one with mp node add ${chain} --url URL.`;
}
