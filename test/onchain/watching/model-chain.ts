import type { ChainAdapter, LookUpRequest, ScanRequest } from '#chains/adapter.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { Block, ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import type { Clock } from '#time/clock.ts';

/** A transfer that a transaction of the model makes. */
export interface ModelTransfer {
  readonly blockchainId: string;
  readonly address: string;
  readonly tokenAmount: bigint;
}

export interface ModelTransaction {
  readonly hash: string;
  readonly transfers: readonly ModelTransfer[];
  /** Outputs that its ancestors spend, as the mempool shows them with it. */
  readonly ancestry?: readonly string[];
  /** Hashes of transactions that this one undoes when it is mined, because it spends what they depend on. */
  readonly undoes?: readonly string[];
}

interface ModelBlock extends Block {
  readonly transactions: readonly ModelTransaction[];
}

/** The most blocks of one scan, so that catching up takes several. */
const BLOCKS_PER_SCAN = 3;

/**
 * A chain whose blocks can be undone, and the adapter that reads it. Transactions wait in a pool until they are
 * mined; those of an abandoned branch wait again, or are gone.
 */
export class ModelChain {
  readonly blocks: ModelBlock[] = [];
  /** Hashes of transactions that the adapter cannot read at the moment. */
  readonly unreadable = new Set<string>();
  /** Whether the adapter cannot even identify those transactions and their receivers. */
  isNameless = false;
  pool: ModelTransaction[] = [];
  readonly #clock: Clock;
  /** Blocks above a final one; null for a chain without a finality of its own, like Bitcoin. */
  readonly #finalDepth: number | null;
  #serial = 0;
  #listed: readonly ModelTransaction[] = [];
  #told = new Set<string>();
  /** When transactions were sent, in milliseconds since the epoch, by hash. */
  readonly #sentAt = new Map<string, number>();
  /** Hashes of transactions that had been in the pool before the first look. */
  readonly #waited = new Set<string>();
  /** How often the pool was listed. */
  lists = 0;

  constructor(clock: Clock, finalDepth: number | null) {
    this.#clock = clock;
    this.#finalDepth = finalDepth;
    for (let height = 0; height < 20; height++) this.mine([]);
  }

  get tip(): ModelBlock {
    const tip = this.blocks.at(-1);
    if (tip === undefined) throw new Error('the chain is empty');
    return tip;
  }

  get finalHeight(): number | null {
    return this.#finalDepth === null ? null : Math.max(0, this.tip.height - this.#finalDepth);
  }

  /** Every transaction of the chain as it is now, with its block. */
  *transactions(): Generator<{ transaction: ModelTransaction; block: ModelBlock }> {
    for (const block of this.blocks) {
      for (const transaction of block.transactions) yield { transaction, block };
    }
  }

  send(...transfers: ModelTransfer[]): ModelTransaction {
    return this.sendAs({ transfers });
  }

  /** Sends a transaction that has more than transfers. */
  sendAs(made: Omit<ModelTransaction, 'hash'>): ModelTransaction {
    this.#serial += 1;
    const transaction = { ...made, hash: `tx${this.#serial}` };
    this.pool.push(transaction);
    this.#sentAt.set(transaction.hash, this.#clock());
    return transaction;
  }

  /** Mines a block with these transactions, or with the whole pool. */
  mine(transactions: readonly ModelTransaction[] = this.pool): void {
    this.#serial += 1;
    const parent = this.blocks.at(-1);
    this.blocks.push({
      height: this.blocks.length,
      hash: `block${this.#serial}`,
      parentHash: parent?.hash ?? '',
      time: new Date(this.#clock()),
      transactions,
    });
    this.pool = this.pool.filter(each => !transactions.includes(each));
  }

  /**
   * Undoes blocks and mines one block more.
   * @param forget Which of the undone transactions are gone for good; the others wait again.
   */
  reorganise(depth: number, forget: (transaction: ModelTransaction) => boolean): void {
    const undone = this.blocks.splice(this.blocks.length - depth);
    const waiting = undone.flatMap(({ transactions }) => transactions);
    this.pool.unshift(...waiting.filter(transaction => !forget(transaction)));
    for (let mined = 0; mined <= depth; mined++) this.mine([]);
  }

  readonly adapter: ChainAdapter = {
    identify: async () => 'model',
    probe: async () => ({
      trace: null,
      logRange: null,
      batch: 1,
      archive: false,
      pruneHeight: null,
    }),
    readDecimals: async () => undefined,
    readHeads: async (_node, cursorHeight, listsMempool = false) => {
      if (listsMempool) {
        this.#listed = [...this.pool];
        this.lists += 1;
      }
      return {
        tip: this.tip,
        finalHeight: this.finalHeight,
        cursorHash: cursorHeight === null ? null : (this.blocks[cursorHeight]?.hash ?? null),
      };
    },
    readHeight: async () => this.tip.height,
    readBlock: async (_node, height) => this.blocks[height] ?? null,
    scan: async (node, request) => this.#scan(node, request),
    readMempool: async (_node, watch, withinMs = null) => {
      const isBitcoin = this.#finalDepth === null;
      const since = withinMs === null ? 0 : this.#clock() - withinMs;
      for (const { hash } of withinMs === null ? [] : this.#listed) {
        if (this.#told.has(hash)) continue;
        this.#waited.add(hash);
        if ((this.#sentAt.get(hash) ?? 0) < since) this.#told.add(hash);
      }
      const fresh = isBitcoin ? this.#listed.filter(({ hash }) => !this.#told.has(hash)) : [];
      const read = [...this.#listed];
      return {
        transfers: fresh.flatMap(transaction => this.#toTransfers(transaction, null, watch)),
        complete: true,
        more: false,
        recorded: () => {
          this.#told = new Set(read.map(({ hash }) => hash));
        },
      };
    },
    isInMempool: hash => this.#finalDepth === null && this.#listed.some(each => each.hash === hash),
    lookUp: async (_node, request) => this.#lookUp(request),
  };

  /** Forgets what was reported, like a process that has just started. */
  forgetTold(): void {
    this.#told = new Set();
  }

  async #scan(node: Node, request: ScanRequest) {
    const { from, to, parentHash, watch } = request;
    const last = Math.min(to, from + BLOCKS_PER_SCAN - 1);
    const first = this.blocks[from];
    const through = this.blocks[last];
    if (first === undefined || through === undefined) {
      throw new NodeFailure(`${node.label} has no block ${last}`);
    }
    if (parentHash !== null && parentHash !== '' && first.parentHash !== parentHash) {
      throw new NodeFailure(`${node.label} is on another branch`);
    }
    const blocks = this.blocks.slice(from, last + 1);
    const transactions = blocks.flatMap(block =>
      block.transactions.map(transaction => ({ transaction, block })),
    );
    const isOdd = ({ transaction: { hash } }: (typeof transactions)[number]) =>
      this.unreadable.has(hash);
    const transfers = transactions
      .filter(each => !isOdd(each))
      .flatMap(({ transaction, block }) => this.#toTransfers(transaction, block, watch));
    const weights = (await request.weigh?.(transfers)) ?? [];
    const awaited = transfers.filter((_, index) => weights[index] === 'awaited');
    if (awaited.length > 0) await request.takeAwaited?.(awaited);
    return {
      through,
      transfers,
      conflicts: new Set(
        transactions.flatMap(({ transaction: { undoes = [] } }) =>
          undoes.filter(hash => request.dependents?.some(({ id }) => id === hash)),
        ),
      ),
      unreadable: transactions.filter(isOdd).map(({ transaction, block }) => ({
        transactionHash: this.isNameless ? null : transaction.hash,
        height: block.height,
        watched: this.isNameless ? [] : toWatched(transaction, watch),
        detail: 'it is nonsense',
      })),
    };
  }

  #toTransfers(
    transaction: ModelTransaction,
    block: ModelBlock | null,
    watch: readonly WatchedAddress[],
  ): ChainTransfer[] {
    const { ancestry } = transaction;
    const isTold = block === null && ancestry !== undefined;
    const transfers = toTransfers(transaction, block, watch).map(each =>
      isTold ? { ...each, ancestry } : each,
    );
    const sentAt = this.#sentAt.get(transaction.hash);
    if (!this.#waited.has(transaction.hash) || sentAt === undefined) return transfers;
    return transfers.map(each => ({ ...each, enteredAt: new Date(sentAt) }));
  }

  #lookUp({ transactionHash, watch }: LookUpRequest) {
    for (const { transaction, block } of this.transactions()) {
      if (transaction.hash !== transactionHash) continue;
      if (this.unreadable.has(transactionHash)) {
        return { status: 'unreadable' as const, detail: 'it is nonsense' };
      }
      const transfers = toTransfers(transaction, block, watch);
      return { status: 'included' as const, block, transfers, foreign: [] };
    }
    const waiting = this.pool.find(({ hash }) => hash === transactionHash);
    if (waiting === undefined) return { status: 'replaced' as const };
    return { status: 'pending' as const, transfers: toTransfers(waiting, null, watch) };
  }
}

function toWatched({ transfers }: ModelTransaction, watch: readonly WatchedAddress[]) {
  return watch.filter(({ network, address }) =>
    transfers.some(each => each.blockchainId === network.id && each.address === address),
  );
}

function toTransfers(
  { hash, transfers }: ModelTransaction,
  block: ModelBlock | null,
  watch: readonly WatchedAddress[],
): ChainTransfer[] {
  return transfers.flatMap(({ blockchainId, address, tokenAmount }, position) => {
    const isWatched = watch.some(
      each => each.network.id === blockchainId && each.address === address,
    );
    if (!isWatched) return [];
    const inputs = null;
    return [
      {
        blockchainId,
        transactionHash: hash,
        position,
        address,
        tokenAmount,
        block,
        inputs,
        maturity: 1,
      },
    ];
  });
}
