import type { ChainAdapter, Heads, LookUpRequest, TransactionReport } from '../adapter.ts';
import { MissingItems } from '../missing-items.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import { toFields, toList } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import { WatchedAccounts } from './accounts.ts';
import { createHoldings } from './holdings.ts';
import { TOKEN_PROGRAM } from './programs.ts';
import {
  blockCall,
  CONFIRMED,
  FINALIZED,
  orThrow,
  readBlockAt,
  readBlocksAt,
  requireSkipped,
  toSlot,
  toSlotBlock,
  toText,
  toValue,
  type WithoutBlock,
} from './responses.ts';
import { scanAccounts } from './scan.ts';
import { scanAgain } from './second-look.ts';
import { toTransactionOrFailure } from './signatures.ts';
import { foreignOf, transactionCall, transfersOf } from './transfers.ts';

/** Calls of one batch; nodes that take none are asked one by one. */
const BATCH = 50;
/** Duration of a slot, by which the time of the newest block is estimated. */
const SLOT_MS = 400;
/** Most slots over which a time is estimated: over more than a minute's, deviations add up. */
const ESTIMATED_SLOTS = 150;
/** Layout of a mint (spl-token, state.rs): decimals, whether it is in use, its size. */
const MINT = { decimals: 44, isInitialized: 45, size: 82 };

/**
 * Reads Solana by its JSON-RPC. Heights are slots, some of which have no block. Blocks are too large to read them
 * all. Instead, balances show which accounts have changed, and the lists of their signatures show the transactions.
 */
export function createSolanaAdapter(): ChainAdapter {
  const misses = new MissingItems();
  const accounts = new WatchedAccounts(misses);
  /** The newest block of the last look, whose header need not be read again. */
  let newest: Block | undefined;

  return {
    looksOnce: true,

    async identify(node) {
      return toText(node, await node.call('getGenesisHash', []), 'the hash of the first block');
    },

    async probe(node) {
      const first = await node.call('getFirstAvailableBlock', []);
      const pruneHeight = toSlot(node, first, 'the first block');
      const isArchive = pruneHeight === 0;
      return {
        trace: null,
        logRange: null,
        batch: BATCH,
        archive: isArchive,
        pruneHeight: isArchive ? null : pruneHeight,
      };
    },

    async readDecimals(node, mint) {
      const options = { ...CONFIRMED, encoding: 'base64' };
      const response = await node.call('getAccountInfo', [mint, options]);
      const { value } = toValue(node, response, 'a mint');
      if (value === null) return undefined;
      const { owner, data } = toFields(node, value, 'a mint');
      const [text] = toList(node, data, 'the data of a mint');
      const bytes = Buffer.from(String(text), 'base64');
      const isMint = owner === TOKEN_PROGRAM && bytes.length === MINT.size;
      return isMint && bytes[MINT.isInitialized] === 1 ? bytes[MINT.decimals] : undefined;
    },

    async readHeads(node, cursorHeight) {
      const [latest, finalized, cursor] = await node.batch([
        { method: 'getLatestBlockhash', params: [CONFIRMED] },
        { method: 'getSlot', params: [FINALIZED] },
        ...(cursorHeight === null ? [] : [blockCall(cursorHeight)]),
      ]);
      const { slot, value } = toValue(node, orThrow(node, latest), 'the newest block');
      const { blockhash } = toFields(node, value, 'the newest block');
      const finalHeight = toSlot(node, orThrow(node, finalized), 'the finalized slot');
      const before = cursorHeight === null ? null : toSlotBlock(node, cursor, cursorHeight);
      // The first block is on every branch.
      if (cursorHeight !== null && cursorHeight > 0 && before === 'skipped') {
        await requireSkipped(node, cursorHeight, slot > cursorHeight);
      }
      newest = await describeNewest(node, slot, toText(node, blockhash, 'a hash'), before);
      return { tip: newest, finalHeight, cursorHash: hashAt(before, cursorHeight, finalHeight) };
    },

    async readHeight(node) {
      return toSlot(node, await node.call('getSlot', []), 'the newest slot');
    },

    readBlock: readBlockAt,

    scan: (node, request) =>
      request.isSecondLook === true
        ? scanAgain(node, request, accounts)
        : scanAccounts(node, request, accounts, { newest, misses }),

    lookUp,

    holdings: createHoldings(accounts, misses),
  };
}

/** The block of the newest slot. If the cursor's block is near, the time is estimated from that block's time. */
async function describeNewest(
  node: Node,
  slot: number,
  hash: string,
  before: Block | WithoutBlock | null,
): Promise<Block> {
  const isNear =
    before !== null && typeof before !== 'string' && slot - before.height <= ESTIMATED_SLOTS;
  if (!isNear) {
    const block = await readBlockAt(node, slot);
    if (block === null) throw new NodeFailure(`${node.label} has no block of slot ${slot}`);
    return block;
  }
  if (slot <= before.height) return before;
  const time = new Date(before.time.getTime() + (slot - before.height) * SLOT_MS);
  return { height: slot, hash, parentHash: before.hash, time };
}

function hashAt(
  before: Block | WithoutBlock | null,
  slot: number | null,
  finalHeight: number,
): Heads['cursorHash'] {
  // The slot had a block, and has none now: another branch. No hash of a block equals this word.
  if (before === 'skipped') return before;
  // A finalized block is never undone, though the node may have deleted it.
  if (before === 'gone') return slot !== null && slot <= finalHeight ? undefined : null;
  return before?.hash ?? null;
}

/** The state of a transaction on the branch that the node has confirmed or, if asked for, finalized. */
async function lookUp(
  node: Node,
  { transactionHash, watch, isFinal }: LookUpRequest,
): Promise<TransactionReport> {
  const commitment = isFinal === true ? FINALIZED : CONFIRMED;
  const history = { searchTransactionHistory: true };
  const [response, statuses] = await node.batch([
    transactionCall(transactionHash, commitment),
    { method: 'getSignatureStatuses', params: [[transactionHash], history] },
  ]);
  const transaction = toTransactionOrFailure(node, response, transactionHash);
  if (transaction instanceof NodeFailure) {
    return { status: 'unreadable', detail: transaction.message };
  }
  if (transaction === null) {
    const { value } = toValue(node, orThrow(node, statuses), 'the status of a transaction');
    const [status] = toList(node, value, 'the status of a transaction');
    if (status === null || status === undefined) return { status: 'unknown' };
    const { confirmationStatus } = toFields(node, status, 'the status of a transaction');
    return confirmationStatus === 'finalized'
      ? { status: 'unreadable', detail: `${node.label} has it as final, and does not show it` }
      : { status: 'pending', transfers: [] };
  }
  const blocks = await readBlocksAt(node, [transaction.slot], commitment);
  const block = blocks.get(transaction.slot);
  if (block === undefined || block instanceof NodeFailure) {
    return { status: 'unreadable', detail: block?.message ?? 'it has no block' };
  }
  if (transaction.failed) return { status: 'failed', block };
  const paid = readOrFailure(() => ({
    transfers: transfersOf(node, transaction, block, watch),
    foreign: foreignOf(node, transaction, watch),
  }));
  if (paid instanceof NodeFailure) return { status: 'unreadable', detail: paid.message };
  return { status: 'included', block, ...paid };
}
