import { createHash } from 'node:crypto';
import type { Node } from '#chains/nodes/node.ts';
import type { Random } from '../../settlement/truth/random.ts';
import { START } from './course.ts';
import type { OmissionKind } from './omission.ts';
import type { Fate, World } from './world.ts';

/** A transfer to an address of the merchant, as whoever made the transaction knows it. */
export interface MadeTransfer {
  readonly network: string;
  readonly address: string;
  readonly amount: bigint;
  readonly position: number;
}

/** A transaction as it is on the chain, whatever block it is in. */
export interface MadeTransaction<Wire = unknown> {
  readonly hash: string;
  /** In milliseconds since the epoch. */
  readonly sentAt: number;
  readonly fate: Fate;
  /** None where it fails. */
  readonly transfers: readonly MadeTransfer[];
  /** Two transactions that spend the same are never in one branch. */
  readonly spends: string;
  /** Whose output it spends, which had been in no block (Bitcoin); none unless given. */
  readonly parent?: MadeTransaction | undefined;
  /** Payment that it was made for, and the one that it names; null for none. */
  readonly payment: number | null;
  readonly names: number | null;
  /** What the family's node makes its answers of. */
  readonly wire: Wire;
}

export interface MadeBlock<Wire = unknown> {
  readonly height: number;
  readonly hash: string;
  readonly parentHash: string;
  /** By the clock of whoever made it, in seconds since the epoch. */
  readonly time: number;
  /** By ours, in milliseconds. */
  readonly madeAt: number;
  readonly transactions: readonly MadeTransaction<Wire>[];
}

export type Branch = readonly MadeBlock[];

/** What differs between the families. */
export interface Family {
  /** Gives a block its hash, which may depend on what is in it. */
  seal(block: Omit<MadeBlock, 'hash'>, salt: string): string;
  /** How far clocks of blocks lead or lag at most, in milliseconds. */
  readonly skewMs: number;
  /** Whether some heights have no block. */
  readonly isSparse: boolean;
  /** Hash of the parent of the first block. */
  readonly nothing: string;
}

/** Blocks before anybody is paid, which are an hour old at most. */
const OLD_BLOCKS = 12;

/**
 * A chain of blocks, of which some are undone. Transactions wait until a block has them; what a fork leaves
 * out waits again, or is gone for good.
 */
export class GeneratedChain {
  /** What is true in the end. */
  best: MadeBlock[] = [];
  /** What the primary node shows, while it is on a branch of its own. */
  minority: MadeBlock[] | null = null;
  readonly blocks = new Map<string, MadeBlock>();
  readonly transactions: MadeTransaction[] = [];
  /** When each was first in a block of any branch, in milliseconds since the epoch. */
  readonly firstMinedAt = new Map<MadeTransaction, number>();
  /** Those that were in the mempool while its node was read without a mishap. */
  readonly listed = new Set<MadeTransaction>();
  /** Those whose amounts were told otherwise for a while. */
  readonly lied = new Set<MadeTransaction>();
  /** What a node leaves out, once it has been made. */
  leftOut: MadeTransaction | undefined;
  /** Whether it has done so. */
  hasLeftOut = false;
  /** What the primary node could not show while it was on a branch of its own, in milliseconds since the epoch. */
  readonly #hidden: {
    readonly from: number;
    readonly to: number;
    readonly transactions: ReadonlySet<MadeTransaction>;
  }[] = [];
  #splitAt = 0;
  /** Those that leave the mempool, and whether a block may still have them. */
  readonly #left = new Map<MadeTransaction, boolean>();
  readonly #random: Random;
  readonly #family: Family;
  readonly #world: World;
  #serial = 0;
  #slot = 0;

  constructor(world: World, family: Family, random: Random) {
    this.#world = world;
    this.#family = family;
    this.#random = random;
    for (let height = 0; height < OLD_BLOCKS; height++) {
      this.#add(this.best, START - (OLD_BLOCKS - height) * 300_000, []);
    }
  }

  get primary(): Branch {
    return this.minority ?? this.best;
  }

  send(transaction: MadeTransaction): void {
    this.transactions.push(transaction);
  }

  /** @param mayBeMined Whether somebody who makes blocks still has it. */
  leave(transaction: MadeTransaction, mayBeMined: boolean): void {
    this.#left.set(transaction, mayBeMined);
  }

  /** When a transaction got into a block of any branch for the last time: nodes may be on different ones. */
  lastMinedAt(transaction: MadeTransaction): number {
    const own = [...this.blocks.values()].filter(({ transactions }) =>
      transactions.includes(transaction),
    );
    return Math.max(...own.map(({ madeAt }) => madeAt));
  }

  /** Transactions that wait for a block of the branch. */
  mempool(branch: Branch): MadeTransaction[] {
    return followable(
      this.#candidates(branch).filter(each => !this.#left.has(each)),
      branch,
    );
  }

  /** Whether a branch has another transaction in place of this one, or of what it descends from. */
  isUndone({ hash, spends, parent }: MadeTransaction, branch: Branch): boolean {
    const other = transactionsOf(branch).find(each => each.spends === spends);
    const isReplaced = other !== undefined && other.hash !== hash;
    return isReplaced || (parent !== undefined && this.isUndone(parent, branch));
  }

  /** Makes a block of each branch. */
  mine(at: number, isEager = false): void {
    for (const branch of [this.best, this.minority]) {
      if (branch === null) continue;
      const chosen: MadeTransaction[] = [];
      for (const each of this.#candidates(branch)) {
        if (chosen.some(({ spends }) => spends === each.spends)) continue;
        if (!follows(each, [...transactionsOf(branch), ...chosen])) continue;
        if (isEager || this.#random.chance(75)) chosen.push(each);
      }
      this.#add(branch, at, chosen);
    }
  }

  /** Undoes blocks and makes one more than that. */
  fork(depth: number, at: number): void {
    if (this.minority !== null) return;
    const undone = this.best.splice(Math.max(2, this.best.length - depth));
    for (const { transactions } of undone) {
      for (const each of transactions) if (this.#random.chance(20)) this.leave(each, false);
    }
    for (let made = 0; made <= undone.length; made++) this.mine(at);
  }

  /** Undoes more blocks; what they had is in the newest block but one of the other branch. */
  forkDeep(depth: number, at: number): void {
    if (this.minority !== null) return;
    const undone = this.best.splice(Math.max(2, this.best.length - depth));
    for (const _ of undone.slice(1)) this.#add(this.best, at, []);
    this.mine(at, true);
    this.#add(this.best, at, []);
  }

  /** The others undo blocks, and the primary node does not. */
  split(depth: number, at: number): void {
    this.#splitAt = at;
    this.minority = [...this.best];
    this.best.splice(Math.max(2, this.best.length - depth));
    while (this.best.length <= this.minority.length) this.#add(this.best, at, []);
  }

  /** The primary node takes the branch of the others for right. */
  join(at: number): void {
    if (this.minority === null) return;
    while (this.best.length <= this.minority.length) this.#add(this.best, at, []);
    const shown = new Set(transactionsOf(this.minority));
    const transactions = new Set(transactionsOf(this.best).filter(each => !shown.has(each)));
    this.#hidden.push({ from: this.#splitAt, to: at, transactions });
    this.minority = null;
  }

  /** Whether the primary node was on a branch without a transaction. */
  isHidden(transaction: MadeTransaction, at: number): boolean {
    return this.#hidden.some(
      ({ from, to, transactions }) => from <= at && at < to && transactions.has(transaction),
    );
  }

  /** Whether a node leaves out what is of one of the kinds of a transaction. */
  isLeftOut(
    transaction: MadeTransaction,
    role: Node['role'],
    kinds: readonly OmissionKind[],
    at: number,
  ): boolean {
    const { omission } = this.#world;
    if (omission === null || transaction !== this.leftOut) return false;
    const isOfKind = omission.role === role && kinds.includes(omission.kind);
    const shownAt =
      omission.kind === 'unconfirmed' ? transaction.sentAt : this.firstMinedAt.get(transaction);
    const from = (shownAt ?? at) + omission.afterMs;
    return isOfKind && from <= at && at < from + omission.lastsMs;
  }

  /** The height of the newest final block of a branch. */
  finalHeight(branch: Branch): number {
    return branch[Math.max(0, branch.length - 1 - this.#world.finalDepth)]?.height ?? 0;
  }

  #candidates(branch: Branch): MadeTransaction[] {
    const mined = transactionsOf(branch);
    const spent = new Set(mined.map(({ spends }) => spends));
    return this.transactions.filter(
      each => !spent.has(each.spends) && this.#left.get(each) !== false,
    );
  }

  #add(branch: MadeBlock[], at: number, transactions: readonly MadeTransaction[]): void {
    this.#serial += 1;
    const parent = branch.at(-1);
    const { skewMs, isSparse, nothing } = this.#family;
    const skew = this.#random.below(2 * skewMs + 1) - skewMs;
    // Whole seconds, which is as far as the clock may be wrong as well.
    const time = Math.floor((at + Math.max(skew, 1_000 - skewMs)) / 1_000);
    // A slot is a time: a block that replaces another one is in a later slot.
    this.#slot += this.#random.pick([1, 1, 2, 30, 70]);
    const block = {
      height: parent === undefined ? 0 : isSparse ? this.#slot : parent.height + 1,
      time,
      madeAt: at,
      transactions,
      parentHash: parent?.hash ?? nothing,
    };
    const hash = this.#family.seal(block, `${this.#world.seed} ${this.#serial}`);
    const made = { ...block, hash };
    branch.push(made);
    this.blocks.set(hash, made);
    for (const each of transactions) {
      if (!this.firstMinedAt.has(each)) this.firstMinedAt.set(each, at);
    }
  }
}

/** Those of the transactions whose parent is among them as well, or in a block. */
export function followable<T extends MadeTransaction>(
  transactions: readonly T[],
  branch: Branch,
): T[] {
  const there: MadeTransaction[] = transactionsOf(branch);
  return transactions.filter(each => {
    const isThere = follows(each, there);
    if (isThere) there.push(each);
    return isThere;
  });
}

function follows({ parent }: MadeTransaction, others: readonly MadeTransaction[]): boolean {
  return parent === undefined || others.includes(parent);
}

function transactionsOf(branch: Branch): MadeTransaction[] {
  return branch.flatMap(({ transactions }) => transactions);
}

/** Hex digits that differ with the text. */
export function digits(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
