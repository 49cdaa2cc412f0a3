import type { ChainAdapter } from '../adapter.ts';
import { BLOCK_TIMEOUT_MS, type Node, ResponseTooLarge } from '../nodes/node.ts';
import { failure, orThrow } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { askHash, scanBlocks, type WorkLimit } from './blocks.ts';
import { hasIndex } from './find-transaction.ts';
import { lookUpTransaction } from './look-up.ts';
import { MEMPOOL_CALL, Mempool, toMempool } from './mempool.ts';
import { RecentBlocks } from './recent-blocks.ts';
import { askHeader, isOutOfRange, property, toCount, toHash, toText } from './responses.ts';
import { ScriptTable } from './watched-scripts.ts';

/** Calls of one batch, unless the node accepts fewer: bitcoind's responses are short and fast. */
const BATCH = 100;

/** State of a chain that is kept from one call to the next. It can be lost at any time. */
interface Memory {
  readonly mempool: Mempool;
  tip: Block | undefined;
}

/** Longest that one call reads blocks or the mempool before it returns what it has, in milliseconds. */
const WORK_MS = 10_000;

/**
 * Reads Bitcoin over the RPC of a node, from version 22 on (`gettxspendingprevout`: 24). A pruned node can
 * be watched, as long as it keeps the blocks from the cursor on. With `txindex=1` each transaction can be
 * looked up; the ability `archive` says whether the node has it.
 */
export function createBitcoinAdapter(limit: Partial<WorkLimit> = {}): ChainAdapter {
  const { workMs = WORK_MS, elapsed = () => performance.now() } = limit;
  const scripts = new ScriptTable();
  const recent = new RecentBlocks();
  const memories = new Map<string, Memory>();
  /** Name of each node's chain, from its last heads. */
  const chains = new Map<string, string>();
  /** Mempool of the chain that was listed last: a node may have served another chain before. */
  let own: Mempool | undefined;

  const recall = (node: Node, chain: unknown): Memory => {
    const name = toText(node, chain, 'the name of the chain');
    const memory = memories.get(name) ?? { mempool: new Mempool(), tip: undefined };
    memories.set(name, memory);
    chains.set(node.id, name);
    return memory;
  };
  const mempoolOf = (node: Node) => memories.get(chains.get(node.id) ?? '')?.mempool;

  return {
    // A block's header commits to all of its transactions.
    looksOnce: true,

    async identify(node) {
      const hash = await askHash(node, 0);
      if (hash === null) throw failure(node, 'there is no first block');
      return hash;
    },

    async probe(node) {
      const info = await node.call('getblockchaininfo', []);
      const isPruned = property(info, 'pruned') === true;
      return {
        trace: null,
        logRange: null,
        batch: BATCH,
        archive: await hasIndex(node),
        pruneHeight: isPruned
          ? toCount(node, property(info, 'pruneheight'), 'the pruned height')
          : null,
      };
    },

    async readDecimals() {
      return undefined;
    },

    async readHeads(node, cursorHeight, listsMempool = false) {
      // The mempool is listed before the newest block: transactions that leave it in between are in that block.
      const listed = listsMempool ? [MEMPOOL_CALL] : [];
      const responses = await node.batch(
        [
          ...listed,
          { method: 'getblockchaininfo', params: [] },
          ...(cursorHeight === null ? [] : [{ method: 'getblockhash', params: [cursorHeight] }]),
        ],
        { timeoutMs: BLOCK_TIMEOUT_MS },
      );
      const [info, cursor] = responses.slice(listed.length);
      const memory = recall(node, property(orThrow(info), 'chain'));
      if (listsMempool) own = memory.mempool;
      if (listsMempool && responses[0] instanceof ResponseTooLarge) memory.mempool.skipList();
      else if (listsMempool) {
        memory.mempool.list(node, toMempool(node, orThrow(responses[0])));
      }
      const hash = toHash(node, property(info, 'bestblockhash'), 'the newest block');
      memory.tip = memory.tip?.hash === hash ? memory.tip : await readByHash(node, hash);
      const isShorter = cursorHeight === null || isOutOfRange(cursor);
      return {
        tip: memory.tip,
        finalHeight: null,
        cursorHash: isShorter ? null : toHash(node, orThrow(cursor), 'the block at the cursor'),
      };
    },

    async readHeight(node) {
      return toCount(node, await node.call('getblockcount', []), 'the height of the newest block');
    },

    async readBlock(node, height) {
      const hash = await askHash(node, height);
      return hash === null ? null : readByHash(node, hash);
    },

    async scan(node, request) {
      const watched = scripts.watched(request.watch);
      const mempool = mempoolOf(node);
      const entered = new Map<string, Date>();
      const scan = await scanBlocks(node, request, watched, { workMs, elapsed }, block => {
        const ids = [...block.transactions, ...block.unreadable].map(({ id }) => id);
        for (const id of ids) {
          const at = mempool?.enteredAt(id);
          if (at !== undefined) entered.set(id, at);
        }
        mempool?.remove(ids);
      });
      // A node on another branch may still have them: then they are reported again.
      if (scan.conflicts !== undefined) mempool?.remove(scan.conflicts);
      const transfers = scan.transfers.map(transfer => {
        const enteredAt = entered.get(transfer.transactionHash);
        return enteredAt === undefined ? transfer : { ...transfer, enteredAt };
      });
      return { ...scan, transfers };
    },

    async readMempool(node, watch, withinMs = null) {
      const mempool = mempoolOf(node);
      if (mempool === undefined) throw failure(node, 'the mempool was not listed with the heads');
      return mempool.read(node, scripts.watched(watch), withinMs, { workMs, elapsed });
    },

    isInMempool: hash => own?.has(hash) === true,

    mustListMempool: () => own?.isUntimed === true,

    lookUp: (node, request) =>
      lookUpTransaction(node, request, scripts.watched(request.watch), recent),
  };
}

async function readByHash(node: Node, hash: string): Promise<Block> {
  const header = await askHeader(node, hash);
  if (header === null) throw failure(node, `there is no block ${hash}`);
  const { isActive: _, ...block } = header;
  return block;
}
