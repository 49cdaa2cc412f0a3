import { sql } from 'kysely';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Fault, FaultKind } from '../../settlement/truth/judge.ts';
import { LAG_MS } from './faulty-node.ts';
import type { Branch, MadeBlock, MadeTransaction, MadeTransfer } from './generated-chain.ts';
import type { PlayedChain } from './play.ts';
import type { ChainStage } from './stage.ts';
import type { World } from './world.ts';

export type { Fault };

/** How long a Bitcoin transaction may be in no mempool before it counts as gone, in milliseconds. */
const FORGOTTEN_MS = 2 * 60 * 60_000;

/** A transfer on a branch, with its block. */
export interface PlacedTransfer extends MadeTransfer {
  readonly transaction: MadeTransaction;
  readonly block: MadeBlock;
}

/** The transfers of a branch, by network, transaction and position. */
export type Real = ReadonlyMap<string, PlacedTransfer>;
export type Complain = (kind: FaultKind, what: string) => void;

/** How far a transfer's time may be off, with polls a minute apart and lagging backends. */
export const POLL_MS = 60_000 + LAG_MS;

/** Every transfer of a branch, by network, transaction and position. */
export function transfersOf(branch: Branch): Map<string, PlacedTransfer> {
  return new Map(
    branch.flatMap(block =>
      block.transactions.flatMap(transaction =>
        transaction.transfers.map(
          each =>
            [
              `${each.network} ${transaction.hash} ${each.position}`,
              { ...each, transaction, block },
            ] as const,
        ),
      ),
    ),
  );
}

export function keyOf(
  row: Pick<Deposit, 'blockchain_id' | 'transaction_hash' | 'position'>,
): string {
  return `${row.blockchain_id} ${row.transaction_hash} ${row.position}`;
}

/**
 * The number of blocks that a finality rule requires, the transfer's own included; null for the chain's own finality.
 * @param cents null for a transfer that may have been credited to any payment before.
 */
export function blocksNeeded({ rule }: World, cents: number | null): number | null {
  const steps = rule.split(',').map(step => step.split('@'));
  const found = steps.find(([, below]) => below === undefined || (cents ?? 0) < Number(below));
  return found?.[0] === 'final' ? null : Number(found?.[0]);
}

/** The height up to which the deposits of a payment may be final. */
function finalUpTo({ world, chain }: PlayedChain, cents: number | null): number {
  const tip = chain.best.at(-1)?.height ?? 0;
  const own = world.slot.chain === 'avax' ? tip : chain.finalHeight(chain.best);
  const blocks = blocksNeeded(world, cents);
  const final = world.slot.family === 'bitcoin' ? 0 : own;
  return blocks === null ? final : Math.max(final, tip - blocks + 1);
}

/** Checks after a round that what is recorded agrees with the chains at that time. */
export async function watchRules(
  { db }: ChainStage,
  played: readonly PlayedChain[],
  now: number,
): Promise<void> {
  const { rows } = await sql<Deposit & { chain: string; cents: number | null }>`
    select deposits.*, networks.chain, payments.amount as cents
    from deposits join networks on networks.id = blockchain_id
    left join payments on payments.id = payment_id`.execute(db);
  const byChain = Map.groupBy(rows, ({ chain }) => chain);
  for (const each of played) {
    const own = byChain.get(each.world.slot.chain) ?? [];
    const best = transfersOf(each.chain.best);
    const shown = each.isRead ? transfersOf(each.chain.primary) : undefined;
    const fault = (kind: FaultKind, what: string) => {
      if (!each.faults.some(known => known.what === what)) each.faults.push({ kind, what });
    };
    for (const row of own) {
      const key = keyOf(row);
      const real = best.get(key);
      if (row.state === 'final') {
        const isThere = real !== undefined && real.block.hash === row.block_hash;
        if (!isThere) fault('unfunded', `${key} is final and not in its block`);
        else if (real.block.height > finalUpTo(each, row.cents)) {
          fault('unfunded', `${key} is final too early, in block ${real.block.height}`);
        }
        if (real !== undefined && real.amount !== BigInt(row.token_amount)) {
          fault('unfunded', `${key} is final with ${row.token_amount} in place of ${real.amount}`);
        }
      }
      // After a complete round, deposits agree with what the node shows.
      if (row.state === 'seen' && shown !== undefined) {
        const place = shown.get(key);
        if (row.block_hash !== null && place?.block.hash !== row.block_hash) {
          fault('other deviation', `${key} is seen in a block where it is not`);
        }
        if (row.block_hash === null && !mayWait(each, row, now)) {
          fault('other deviation', `${key} is seen, and in no block`);
        }
      }
    }
  }
}

function mayWait({ world, chain }: PlayedChain, row: Deposit, now: number): boolean {
  const isListed = chain.mempool(chain.primary).some(({ hash }) => hash === row.transaction_hash);
  // After a false response, the transaction is looked up again before anything is reversed.
  const isDoubted = [...chain.lied].some(({ hash }) => hash === row.transaction_hash);
  const made = chain.transactions.find(({ hash }) => hash === row.transaction_hash);
  // For the service, a transaction that its node leaves out is in no mempool.
  const isLeftOut = made !== undefined && made === chain.leftOut;
  if (isListed || isDoubted || isLeftOut) return true;
  // A transfer that a conflicting mined transaction has undone is not waited for, unless its parent was in a block
  // when it was seen.
  const wasInBlock = made?.parent !== undefined && chain.firstMinedAt.has(made.parent);
  const isUndone = made !== undefined && !wasInBlock && chain.isUndone(made, chain.primary);
  const isBitcoin = world.slot.family === 'bitcoin';
  return isBitcoin && !isUndone && now - row.updated_at.getTime() < 2 * FORGOTTEN_MS;
}
