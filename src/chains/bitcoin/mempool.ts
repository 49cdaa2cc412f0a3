import {
  BLOCK_TIMEOUT_MS,
  type Node,
  type NodeCall,
  NodeFailure,
  RpcError,
} from '../../nodes/node.ts';
import type { ChainTransfer, MempoolReading, Unreadable } from '../adapter.ts';
import { orThrow, toList } from '../answers.ts';
import { readOrFailure } from '../unreadable.ts';
import { isNotFound, property, readTransaction, toHash } from './answers.ts';
import type { WorkLimit } from './blocks.ts';
import { toUnreadable, transfersOf, type WatchedScripts } from './watched-scripts.ts';

/** Transactions to ask for at once. */
const PART = 25;

/** So many are asked for sooner than the times of all that are in the mempool: some 500 bytes each. */
const FEW = 1_000;

/** Nodes get to know a transaction at different times. */
const SKEW_MS = 2 * 60_000;

/** The call for the IDs of a mempool. */
export const MEMPOOL_CALL: NodeCall = {
  method: 'getrawmempool',
  params: [],
  mayBeTooLarge: true,
};

/** The IDs of a mempool, as a node has answered them. */
export function toMempool(node: Node, answer: unknown): ReadonlySet<string> {
  const list = toList(node, answer, 'the mempool');
  return new Set(list.map(id => toHash(node, id, 'a transaction of the mempool')));
}

/**
 * What is known of a mempool: which of its transactions were looked at, and which are still to be. A new
 * node's whole mempool is to be looked at; what arrives later comes first.
 */
export class Mempool {
  readonly #seen = new Set<string>();
  readonly #arrived = new Set<string>();
  readonly #backlog = new Set<string>();
  /** Transfers that were told and perhaps not recorded, by transaction. */
  readonly #told = new Map<string, readonly ChainTransfer[]>();
  /** What cannot be read, and was perhaps not written down, by transaction. */
  readonly #unread = new Map<string, Unreadable>();
  #nodeId: string | undefined;
  #isTimed = false;
  #isListed = false;

  /** Takes a node's list. What has left it is forgotten, and told again should it come back. */
  list(node: Node, ids: ReadonlySet<string>): void {
    for (const each of [this.#seen, this.#arrived, this.#backlog, this.#told, this.#unread]) {
      for (const id of each.keys()) if (!ids.has(id)) each.delete(id);
    }
    const isSame = this.#nodeId === node.id;
    for (const id of ids) {
      if (!this.has(id)) (isSame ? this.#arrived : this.#backlog).add(id);
    }
    this.#nodeId = node.id;
    this.#isListed = true;
    if (!isSame) this.#isTimed = false;
  }

  /** The list is too long to be read: what is new is not known, and what has left is not forgotten. */
  skipList(): void {
    this.#isListed = false;
  }

  /** Whether the last list had it, and neither a block nor a question has shown that it is gone. */
  has(id: string): boolean {
    return this.#seen.has(id) || this.#arrived.has(id) || this.#backlog.has(id);
  }

  /** Forgets what a block contains: its block tells it. */
  remove(ids: Iterable<string>): void {
    for (const id of ids) {
      for (const each of [this.#seen, this.#arrived, this.#backlog, this.#told, this.#unread]) {
        each.delete(id);
      }
    }
  }

  /**
   * Looks at what is new in the list, as far as the limit allows.
   * @param since What entered the mempool before is of no interest.
   */
  async read(
    node: Node,
    watched: WatchedScripts,
    since: Date | null,
    limit: WorkLimit,
  ): Promise<MempoolReading> {
    // Whoever is watched later has not been paid yet.
    if (watched.size === 0) this.#see([...this.#arrived, ...this.#backlog]);
    if (since !== null && this.#backlog.size > FEW) await this.#skipOlder(node, since);
    const until = limit.elapsed() + limit.workMs;
    for (let part = this.#next(); part.length > 0; part = this.#next()) {
      await this.#look(node, part, watched);
      if (limit.elapsed() >= until) break;
    }
    return this.#reading();
  }

  #reading(): MempoolReading {
    const told = [...this.#told];
    const unread = [...this.#unread];
    const isMore = this.#next().length > 0;
    return {
      transfers: told.flatMap(([, transfers]) => transfers),
      unreadable: unread.map(([, unreadable]) => unreadable),
      complete: this.#isListed && !isMore,
      more: isMore,
      recorded: () => {
        for (const [id, transfers] of told) {
          if (this.#told.get(id) === transfers) this.#told.delete(id);
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
    const answers = await node.batch(
      ids.map(id => ({ method: 'getrawtransaction', params: [id, false] })),
    );
    for (const [index, id] of ids.entries()) {
      const answer = answers[index];
      // It has left the mempool since. If the next list has it, another backend of the provider answered.
      if (isNotFound(answer)) {
        this.#arrived.delete(id);
        this.#backlog.delete(id);
        continue;
      }
      const sent = orThrow(answer);
      const transaction = readOrFailure(() => readTransaction(node, id, sent));
      if (transaction instanceof NodeFailure) {
        const detail = transaction.message;
        this.#unread.set(id, toUnreadable({ id, sent, detail }, watched, null));
      } else {
        const transfers = transfersOf(transaction, watched, null);
        if (transfers.length > 0) this.#told.set(id, transfers);
      }
      this.#see([id]);
    }
  }

  /**
   * Leaves out what is older, by one answer with the times of all. Where the node refuses or the answer is
   * too long, everything is asked for.
   */
  async #skipOlder(node: Node, since: Date): Promise<void> {
    if (this.#isTimed) return;
    this.#isTimed = true;
    try {
      const entries = await node.call('getrawmempool', [true], {
        timeoutMs: BLOCK_TIMEOUT_MS,
        mayBeTooLarge: true,
      });
      const oldest = (since.getTime() - SKEW_MS) / 1_000;
      this.#see(
        [...this.#backlog].filter(id => {
          const time = property(property(entries, id), 'time');
          return typeof time === 'number' && time < oldest;
        }),
      );
    } catch (error) {
      if (!(error instanceof RpcError) && !(error instanceof NodeFailure)) throw error;
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
