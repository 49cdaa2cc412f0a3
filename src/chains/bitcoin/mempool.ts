import type { MempoolReading, Unreadable } from '../adapter.ts';
import { eachAlone } from '../missing-items.ts';
import {
  BLOCK_TIMEOUT_MS,
  isNodeError,
  LaggingNode,
  type Node,
  type NodeCall,
  NodeFailure,
} from '../nodes/node.ts';
import { toList } from '../responses.ts';
import type { ChainTransfer } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import { readAncestry } from './ancestry.ts';
import type { WorkLimit } from './blocks.ts';
import { isNotFound, property, readTransaction, toHash } from './responses.ts';
import { toUnreadable, transfersOf, type WatchedScripts } from './watched-scripts.ts';

/** Transactions to ask for at once. */
const PART = 25;

/** With more transactions, a response with the times of all may be too long: each takes 500 bytes and 20 values. */
const TIMED_MAXIMUM = 25_000;

/** How far the times may differ at which nodes learn of a transaction, in milliseconds. */
const SKEW_MS = 2 * 60_000;

/** The call for the IDs of a mempool. */
export const MEMPOOL_CALL: NodeCall = {
  method: 'getrawmempool',
  params: [],
  mayBeTooLarge: true,
};

/** The IDs of a mempool, from a node's response. */
export function toMempool(node: Node, response: unknown): ReadonlySet<string> {
  const list = toList(node, response, 'the mempool');
  return new Set(list.map(id => toHash(node, id, 'a transaction of the mempool')));
}

/**
 * The transactions of a mempool: those that were read, and those still to be read. After a change of the node its
 * whole list is a backlog; transactions that arrive later are read first.
 */
export class Mempool {
  readonly #seen = new Set<string>();
  readonly #arrived = new Set<string>();
  readonly #backlog = new Set<string>();
  /** Listed transactions that the responding server did not have: they have left since, or the server is behind. */
  readonly #missing = new Set<string>();
  /** Transactions that were read while an ancestor was missing: they are read again with the next list. */
  readonly #orphans = new Set<string>();
  /** Transfers of earlier readings that may not be recorded yet, by transaction. */
  readonly #unrecorded = new Map<string, readonly ChainTransfer[]>();
  /** Transactions that cannot be read, and may not be reported yet. */
  readonly #unread = new Map<string, Unreadable>();
  /** When transactions that were there before the first look entered the mempool, in milliseconds since the epoch. */
  readonly #entered = new Map<string, number>();
  #nodeId: string | undefined;
  #isListed = false;
  #isLong = false;
  #refusesTimes = false;

  /** Takes a node's list. Transactions that have left it are forgotten; one that comes back is read again. */
  list(node: Node, ids: ReadonlySet<string>): void {
    for (const each of this.#all()) {
      for (const id of each.keys()) if (!ids.has(id)) each.delete(id);
    }
    const isSame = this.#nodeId === node.id;
    this.#missing.clear();
    for (const id of this.#orphans) this.#arrived.add(id);
    this.#orphans.clear();
    for (const id of ids) {
      if (!this.has(id)) (isSame ? this.#arrived : this.#backlog).add(id);
    }
    this.#nodeId = node.id;
    this.#isListed = true;
    this.#isLong = ids.size > TIMED_MAXIMUM;
    if (!isSame) this.#refusesTimes = false;
  }

  /** Call if the list is too long to be read: new transactions stay unknown, and none that has left is forgotten. */
  skipList(): void {
    this.#isListed = false;
    this.#isLong = true;
  }

  /**
   * Whether the node cannot say when each transaction entered: there are too many, or it refuses. After a while
   * without lists, every new transaction would have to be read, which costs more than the lists.
   */
  get isUntimed(): boolean {
    return this.#isLong || this.#refusesTimes;
  }

  /** Whether the last list had it, and neither a block nor a call has shown since that it is gone. */
  has(id: string): boolean {
    return this.#seen.has(id) || this.#arrived.has(id) || this.#backlog.has(id);
  }

  /** Forgets transactions that a block contains, since its scan reports them, or has made invalid. */
  remove(ids: Iterable<string>): void {
    for (const id of ids) for (const each of this.#all()) each.delete(id);
  }

  /** When it entered the node's mempool; undefined if that was not read. */
  enteredAt(id: string): Date | undefined {
    const at = this.#entered.get(id);
    return at === undefined ? undefined : new Date(at);
  }

  #all() {
    return [
      this.#seen,
      this.#arrived,
      this.#backlog,
      this.#missing,
      this.#orphans,
      this.#unrecorded,
      this.#unread,
      this.#entered,
    ];
  }

  /**
   * Reads the new transactions of the list, as far as the limit allows.
   * @param withinMs Skips transactions that entered the mempool longer ago; null right after another list.
   */
  async read(
    node: Node,
    watched: WatchedScripts,
    withinMs: number | null,
    limit: WorkLimit,
  ): Promise<MempoolReading> {
    // An address that is watched later cannot have been paid by a transaction of this list.
    if (watched.size === 0) this.#see([...this.#arrived, ...this.#backlog]);
    if (withinMs !== null) {
      // It was not listed for a while: a new transaction may be as old as those that were left unread.
      for (const id of this.#arrived) this.#backlog.add(id);
      this.#arrived.clear();
      if (this.#backlog.size > 0) await this.#skipOlder(node, withinMs);
    }
    const until = limit.elapsed() + limit.workMs;
    for (let part = this.#next(); part.length > 0; part = this.#next()) {
      await this.#look(node, part, watched);
      if (limit.elapsed() >= until) break;
    }
    return this.#reading();
  }

  #reading(): MempoolReading {
    const unrecorded = [...this.#unrecorded];
    const unread = [...this.#unread];
    const isMore = this.#next().length > 0;
    return {
      transfers: unrecorded.flatMap(([, transfers]) => transfers),
      unreadable: unread.map(([, unreadable]) => unreadable),
      complete: this.#isListed && !isMore,
      more: isMore,
      recorded: () => {
        for (const [id, transfers] of unrecorded) {
          if (this.#unrecorded.get(id) === transfers) this.#unrecorded.delete(id);
        }
        for (const [id] of unread) this.#unread.delete(id);
      },
    };
  }

  #next(): string[] {
    return firstOf(this.#arrived.size > 0 ? this.#arrived : this.#backlog);
  }

  #see(ids: Iterable<string>): void {
    for (const id of ids) {
      this.#arrived.delete(id);
      this.#backlog.delete(id);
      this.#seen.add(id);
    }
  }

  async #look(node: Node, ids: readonly string[], watched: WatchedScripts): Promise<void> {
    const responses = await node.batch(
      ids.map(id => ({ method: 'getrawtransaction', params: [id, false] })),
    );
    const gone = ids.filter((_, index) => isNotFound(responses[index]));
    // They have left the mempool since, or another server responded: then the next list has them.
    for (const id of gone) {
      this.#arrived.delete(id);
      this.#backlog.delete(id);
      this.#missing.add(id);
    }
    const there = ids.flatMap((id, index) =>
      gone.includes(id) ? [] : [{ id, response: responses[index] }],
    );
    const alone = eachAlone(
      node,
      there.map(({ response }) => response),
    );
    for (const [index, { id }] of there.entries()) {
      const sent = alone[index];
      const transaction =
        sent instanceof LaggingNode ? sent : readOrFailure(() => readTransaction(node, id, sent));
      if (transaction instanceof NodeFailure) {
        const detail = transaction.message;
        this.#unread.set(id, toUnreadable({ id, sent, detail }, watched, null));
      } else {
        const enteredAt = this.enteredAt(id);
        const transfers = transfersOf(transaction, watched, null);
        if (transfers.length > 0) {
          const { spent, complete } = await readAncestry(
            node,
            transaction,
            each => this.has(each) || this.#missing.has(each),
          );
          if (!complete) this.#orphans.add(id);
          const more = {
            ...(spent.length === 0 ? {} : { ancestry: spent }),
            ...(enteredAt === undefined ? {} : { enteredAt }),
          };
          this.#unrecorded.set(
            id,
            transfers.map(transfer => ({ ...transfer, ...more })),
          );
        }
      }
      this.#see([id]);
    }
  }

  /**
   * Skips older transactions, by one response with the times of all. The times are remembered for when these
   * transactions get into a block. If the node refuses or the response is too long, every transaction is read.
   */
  async #skipOlder(node: Node, withinMs: number): Promise<void> {
    try {
      const entries = await node.call('getrawmempool', [true], {
        timeoutMs: BLOCK_TIMEOUT_MS,
        mayBeTooLarge: true,
      });
      const times = new Map<string, number>();
      let newest = 0;
      for (const [id, entry] of Object.entries(entries ?? {})) {
        const time = property(entry, 'time');
        if (typeof time !== 'number') continue;
        times.set(id, time * 1_000);
        newest = Math.max(newest, time * 1_000);
      }
      // By the node's clock, which is not before the time of the newest transaction.
      const oldest = newest - withinMs - SKEW_MS;
      for (const id of this.#backlog) {
        const time = times.get(id);
        if (time !== undefined) this.#entered.set(id, time);
      }
      this.#see([...this.#backlog].filter(id => (times.get(id) ?? oldest) < oldest));
    } catch (error) {
      if (!isNodeError(error)) throw error;
      this.#refusesTimes = true;
    }
  }
}

function firstOf(ids: ReadonlySet<string>): string[] {
  const first: string[] = [];
  for (const id of ids) {
    if (first.length === PART) break;
    first.push(id);
  }
  return first;
}
