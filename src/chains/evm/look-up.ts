import type { ForeignTransfer, LookUpRequest, TransactionReport } from '../adapter.ts';
import type { Traced } from '../internal-transfers.ts';
import { eachAlone } from '../missing-items.ts';
import { isNodeError, LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { toFields } from '../responses.ts';
import { type Block, type ChainTransfer, transferTo } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import { readEachHeader, toTransaction } from './blocks.ts';
import { trace } from './internal.ts';
import { type Receipt, toReceipt } from './receipts.ts';
import { foreignTransfers, tokenTransfers } from './transfer-logs.ts';
import { allAddresses, indexWatched } from './watched.ts';

/** Gas of a transaction that calls no contract (Ethereum yellow paper, G_transaction). */
const PLAIN_TRANSFER_GAS = 21_000;
/** Most transfers of other tokens in a report. */
const FOREIGN_MAXIMUM = 20;

/** Transactions that are asked for in one batch. */
const TRANSACTIONS_PER_BATCH = 25;

/**
 * The states of transactions, from their receipts and from the blocks that the node has at their heights. A transaction
 * that the node refuses to show, or contradicts itself about, is reported as unreadable, and the others are read.
 * @returns Reports in the order of the requests.
 */
export async function lookUpTransactions(
  node: Node,
  requests: readonly LookUpRequest[],
): Promise<TransactionReport[]> {
  const reports: TransactionReport[] = [];
  for (const together of inParts(requests, TRANSACTIONS_PER_BATCH)) {
    reports.push(...(await lookUpTogether(node, together)));
  }
  return reports;
}

async function lookUpTogether(
  node: Node,
  requests: readonly LookUpRequest[],
): Promise<TransactionReport[]> {
  const responses = await node.batch(
    requests.flatMap(({ transactionHash }) => [
      { method: 'eth_getTransactionReceipt', params: [transactionHash] },
      { method: 'eth_getTransactionByHash', params: [transactionHash] },
    ]),
  );
  const alone = eachAlone(node, responses);
  const found = requests.map((request, index) => {
    const [receipt, transaction] = alone.slice(2 * index);
    const refused = [receipt, transaction].find(each => each instanceof LaggingNode);
    return {
      request,
      receipt: refused ?? readOrFailure(() => toReceipt(node, receipt, request.transactionHash)),
      transaction,
    };
  });
  // Read after the receipts, so that a block that was undone meanwhile is noticed.
  const heights = found.flatMap(({ receipt }) =>
    receipt instanceof NodeFailure ? [] : (receipt?.height ?? []),
  );
  const headers = await readEachHeader(node, [...new Set(heights)]);
  const traceOnce = createTracing(node, requests);
  const reports: TransactionReport[] = [];
  for (const { request, receipt, transaction } of found) {
    if (receipt instanceof NodeFailure) {
      reports.push({ status: 'unreadable', detail: receipt.message });
    } else if (receipt === null) {
      reports.push(reportWithoutReceipt(node, transaction));
    } else {
      reports.push(await reportOf(node, request, { receipt, transaction, headers }, traceOnce));
    }
  }
  return reports;
}

function unreadable(node: Node, what: string): TransactionReport {
  return { status: 'unreadable', detail: `${node.label} has ${what}` };
}

function reportWithoutReceipt(node: Node, transaction: unknown): TransactionReport {
  if (transaction === null || transaction === undefined) return { status: 'unknown' };
  const isPending = toFields(node, transaction, 'a transaction').blockNumber == null;
  if (isPending) return { status: 'pending', transfers: [] };
  return unreadable(node, 'a transaction in a block, and no receipt of it');
}

interface Found {
  readonly receipt: Receipt;
  /** As the node has sent it. */
  readonly transaction: unknown;
  readonly headers: ReadonlyMap<number, Block | NodeFailure>;
}

const NOTHING: Traced = { transfers: [], unread: new Set() };

type Trace = (height: number) => Promise<Traced | null>;

/** Traces each block once, for the addresses of all requests. */
function createTracing(node: Node, requests: readonly LookUpRequest[]): Trace {
  const watch = requests.flatMap(request => request.watch);
  const traces = new Map<number, ReturnType<Trace>>();
  return height => {
    const traced = traces.get(height) ?? trace(node, height, watch);
    traces.set(height, traced);
    return traced;
  };
}

async function reportOf(
  node: Node,
  { transactionHash, watch }: LookUpRequest,
  { receipt, transaction: found, headers }: Found,
  traceOnce: Trace,
): Promise<TransactionReport> {
  const block = headers.get(receipt.height);
  if (block instanceof NodeFailure) return { status: 'unreadable', detail: block.message };
  if (block === undefined || block.hash !== receipt.blockHash) {
    return unreadable(node, 'a receipt of another branch');
  }
  if (!receipt.succeeded) return { status: 'failed', block };

  const watched = indexWatched(watch);
  const read = readOrFailure(() => ({
    transaction: toTransaction(node, found),
    tokens: tokenTransfers(node, receipt, block, watched),
  }));
  if (read instanceof NodeFailure) return { status: 'unreadable', detail: read.message };
  const { transaction } = read;
  const transfers: ChainTransfer[] = [...read.tokens];
  const own = watched.native.get(transaction.to ?? '');
  if (own !== undefined && transaction.value > 0n) {
    const arrived = { transactionHash, position: 0, tokenAmount: transaction.value, block };
    transfers.push(transferTo(own, arrived));
  }
  const mayPayMore = watched.native.size > 0 && receipt.gasUsed > PLAIN_TRANSFER_GAS;
  const shown = mayPayMore ? await traceOnce(block.height).catch(toFailure) : NOTHING;
  if (shown instanceof Error) return { status: 'unreadable', detail: shown.message };
  const traced = shown?.unread.has(transactionHash) === true ? null : shown;
  if (traced?.transfers.some(each => each.block?.hash !== block.hash)) {
    return unreadable(node, 'a trace of another branch');
  }
  const internal = (traced?.transfers ?? []).filter(
    each =>
      each.transactionHash === transactionHash && watched.native.has(each.address.toLowerCase()),
  );
  transfers.push(...internal);
  const addresses = allAddresses(watched);
  const foreign: ForeignTransfer[] = foreignTransfers(receipt, watched, addresses, FOREIGN_MAXIMUM);
  const isOtherNative = own === undefined && transaction.value > 0n;
  if (isOtherNative && addresses.has(transaction.to ?? '')) {
    foreign.push({ address: transaction.to ?? '', contract: null });
  }
  const untraced = traced === null && ({ untraced: true } as const);
  return { status: 'included', block, transfers, foreign, ...untraced };
}

/** A trace that fails makes only the transactions of its block unreadable, so the error is returned. */
function toFailure(error: unknown): Error {
  if (isNodeError(error)) return error;
  throw error;
}
