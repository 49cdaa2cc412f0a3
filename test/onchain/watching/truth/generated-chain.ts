import { createHash } from 'node:crypto';
import type { Node } from '#chains/nodes/node.ts';
import type { Random } from '../../settlement/truth/random.ts';
import { START } from './course.ts';
import type { OmissionKind } from './omission.ts';
import type { Fate, World } from './world.ts';

/** A transfer to an address of the merchant, as the sender knows it. */
export interface MadeTransfer {
  readonly network: string;
  readonly address: string;
  readonly amount: bigint;
  readonly position: number;
}

/** A transaction on the chain, independent of the block it is in. */
export interface MadeTransaction<Wire = unknown> {
  readonly hash: string;
  /** In milliseconds since the epoch. */
  readonly sentAt: number;
  readonly fate: Fate;
  /** Empty if the transaction fails. */
  readonly transfers: readonly MadeTransfer[];
  /** Two transactions that spend the same output are never in one branch. */
  readonly spends: string;
  /** The unconfirmed transaction whose output it spends (Bitcoin); none unless given. */
  readonly parent?: MadeTransaction | undefined;
  /** The payment that it was made for, and the one that it names; null for none. */
  readonly payment: number | null;
  readonly names: number | null;
  /** Data that the node of the chain's family builds its responses from. */
  readonly wire: Wire;
}

export interface MadeBlock<Wire = unknown> {
  readonly height: number;
  readonly hash: string;
  readonly parentHash: string;
  /** By the block producer's clock, in seconds since the epoch. */
  readonly time: number;
  /** By our clock, in milliseconds. */
  readonly madeAt: number;
  readonly transactions: readonly MadeTransaction<Wire>[];
}

export type Branch = readonly MadeBlock[];

/** What differs between the families. */
export interface Family {
  /** Computes the hash of a block, which may depend on its contents. */
  seal(block: Omit<MadeBlock, 'hash'>, salt: string): string;
  /** The most that block clocks are ahead or behind, in milliseconds. */
  readonly skewMs: number;
  /** Whether heights without a block exist. */
  readonly isSparse: boolean;
  /** Parent hash of the first block. */
  readonly nothing: string;
}

/** Number of blocks before the first payment; they are at most an hour old. */
const OLD_BLOCKS = 12;

/**
 * A chain of blocks, some of which are undone. Transactions wait until they are mined; those that a fork undoes
 * wait again, or are gone for good.
 */
export class GeneratedChain {
  /** The branch that wins in the end. */
  best: MadeBlock[] = [];
  /** The branch that the primary node shows, while it is on its own one. */
  minority: MadeBlock[] | null = null;
  readonly blocks = new Map<string, MadeBlock>();
  readonly transactions: MadeTransaction[] = [];
  /** When each transaction was first mined on any branch, in milliseconds since the epoch. */
  readonly firstMinedAt = new Map<MadeTransaction, number>();
  /** Transactions that were in the mempool while its node was read without a mishap. */
  readonly listed = new Set<MadeTransaction>();
  /** Transactions whose amounts were reported falsely for a while. */
  readonly lied = new Set<MadeTransaction>();
  /** The transaction that a node leaves out, once it has been made. */
  leftOut: MadeTransaction | undefined;
  /** Whether the node has left it out in a response. */
  hasLeftOut = false;
  /** What the primary node could not show while it was on its own branch; times in milliseconds since the epoch. */
  readonly #hidden: {
    readonly from: number;
    readonly to: number;
    readonly transactions: ReadonlySet<MadeTransaction>;
  }[] = [];
  #splitAt = 0;
  /** Transactions that have left the mempool, and whether they may still be mined. */
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

  /** @param mayBeMined Whether some block producer still has it. */
  leave(transaction: MadeTransaction, mayBeMined: boolean): void {
    this.#left.set(transaction, mayBeMined);
  }

  /** When a transaction was last mined on any branch: nodes may be on different ones. */
  lastMinedAt(transaction: MadeTransaction): number {
    const own = [...this.blocks.values()].filter(({ transactions }) =>
      transactions.includes(transaction),
    );
    return Math.max(...own.map(({ madeAt }) => madeAt));
  }

  /** Transactions that are unconfirmed on the branch. */
  mempool(branch: Branch): MadeTransaction[] {
    return followable(
      this.#candidates(branch).filter(each => !this.#left.has(each)),
      branch,
    );
  }

  /** Whether a branch has a transaction that conflicts with this one, or with its ancestors. */
  isUndone({ hash, spends, parent }: MadeTransaction, branch: Branch): boolean {
    const other = transactionsOf(branch).find(each => each.spends === spends);
    const isReplaced = other !== undefined && other.hash !== hash;
    return isReplaced || (parent !== undefined && this.isUndone(parent, branch));
  }

  /** Mines a block on each branch. */
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

  /** Undoes blocks and mines one block more. */
  fork(depth: number, at: number): void {
    if (this.minority !== null) return;
    const undone = this.best.splice(Math.max(2, this.best.length - depth));
    for (const { transactions } of undone) {
      for (const each of transactions) if (this.#random.chance(20)) this.leave(each, false);
    }
    for (let made = 0; made <= undone.length; made++) this.mine(at);
  }

  /** Undoes more blocks. Their transactions are in the second newest block of the other branch. */
  forkDeep(depth: number, at: number): void {
    if (this.minority !== null) return;
    const undone = this.best.splice(Math.max(2, this.best.length - depth));
    for (const _ of undone.slice(1)) this.#add(this.best, at, []);
    this.mine(at, true);
    this.#add(this.best, at, []);
  }

  /** All nodes but the primary one undo blocks. */
  split(depth: number, at: number): void {
    this.#splitAt = at;
    this.minority = [...this.best];
    this.best.splice(Math.max(2, this.best.length - depth));
    while (this.best.length <= this.minority.length) this.#add(this.best, at, []);
  }

  /** The primary node switches to the others' branch. */
  join(at: number): void {
    if (this.minority === null) return;
    while (this.best.length <= this.minority.length) this.#add(this.best, at, []);
    const shown = new Set(transactionsOf(this.minority));
    const transactions = new Set(transactionsOf(this.best).filter(each => !shown.has(each)));
    this.#hidden.push({ from: this.#splitAt, to: at, transactions });
    this.minority = null;
  }

  /** Whether the primary node was on a branch without the transaction at this time. */
  isHidden(transaction: MadeTransaction, at: number): boolean {
    return this.#hidden.some(
      ({ from, to, transactions }) => from <= at && at < to && transactions.has(transaction),
    );
  }

  /** Whether a node leaves this transaction out of responses of these kinds. */
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
    // Rounded to whole seconds, without exceeding the maximum clock difference.
    const time = Math.floor((at + Math.max(skew, 1_000 - skewMs)) / 1_000);
    // A slot is a point in time: a block that replaces another one is in a later slot.
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

/** The transactions whose parent is also among them, or in a block. */
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

/** Hex digits that depend on the text. */
export function digits(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
