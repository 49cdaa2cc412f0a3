import { type Node, NodeFailure } from '../../nodes/node.ts';
import type {
  Block,
  ChainTransfer,
  ForeignTransfer,
  InternalTransfers,
  LookUpRequest,
  Traced,
  TransactionReport,
} from '../adapter.ts';
import { orThrow, toFields } from '../responses.ts';
import { readOrFailure } from '../unreadable.ts';
import { readHeaders, toTransaction } from './blocks.ts';
import { type Receipt, toReceipt } from './receipts.ts';
import { foreignTransfers, tokenTransfers } from './transfer-logs.ts';
import { allAddresses, indexWatched } from './watched.ts';

/** Gas of a transaction that calls no contract (Ethereum yellow paper, G_transaction). */
const PLAIN_TRANSFER_GAS = 21_000;
/** Transfers of other tokens that are told. */
const FOREIGN_MAXIMUM = 20;

/** Transactions that are asked for in one batch. */
const TRANSACTIONS_PER_BATCH = 25;

/**
 * What became of transactions: by their receipts, and by the blocks that the node has at their heights.
 * @param internal Finds what contracts have sent, where the node traces.
 * @returns Reports in the order of the requests.
 */
export async function lookUpTransactions(
  node: Node,
  requests: readonly LookUpRequest[],
  internal: Pick<InternalTransfers, 'trace'>,
): Promise<TransactionReport[]> {
  const reports: TransactionReport[] = [];
  for (let next = 0; next < requests.length; next += TRANSACTIONS_PER_BATCH) {
    const together = requests.slice(next, next + TRANSACTIONS_PER_BATCH);
    reports.push(...(await lookUpTogether(node, together, internal)));
  }
  return reports;
}

async function lookUpTogether(
  node: Node,
  requests: readonly LookUpRequest[],
  internal: Pick<InternalTransfers, 'trace'>,
): Promise<TransactionReport[]> {
  const responses = await node.batch(
    requests.flatMap(({ transactionHash }) => [
      { method: 'eth_getTransactionReceipt', params: [transactionHash] },
      { method: 'eth_getTransactionByHash', params: [transactionHash] },
    ]),
  );
  const found = requests.map((request, index) => {
    const receipt = orThrow(responses[2 * index]);
    return {
      request,
      receipt: readOrFailure(() => toReceipt(node, receipt, request.transactionHash)),
      transaction: orThrow(responses[2 * index + 1]),
    };
  });
  // After the receipts, so that a block is still there when its receipt is believed.
  const heights = [
    ...new Set(
      found.flatMap(({ receipt }) =>
        receipt instanceof NodeFailure ? [] : (receipt?.height ?? []),
      ),
    ),
  ];
  const headers = new Map((await readHeaders(node, heights)).map(block => [block.height, block]));
  const trace = createTracing(node, requests, internal);
  const reports: TransactionReport[] = [];
  for (const { request, receipt, transaction } of found) {
    if (receipt instanceof NodeFailure) {
      reports.push({ status: 'unreadable', detail: receipt.message });
    } else if (receipt === null) {
      reports.push(reportWithoutReceipt(node, transaction));
    } else {
      reports.push(await reportOf(node, request, { receipt, transaction, headers }, trace));
    }
  }
  return reports;
}

function reportWithoutReceipt(node: Node, transaction: unknown): TransactionReport {
  if (transaction === null || transaction === undefined) return { status: 'unknown' };
  const isPending = toFields(node, transaction, 'a transaction').blockNumber == null;
  if (isPending) return { status: 'pending', transfers: [] };
  throw new NodeFailure(`${node.label} has a transaction in a block, and no receipt of it`);
}

interface Found {
  readonly receipt: Receipt;
  /** As the node has sent it. */
  readonly transaction: unknown;
  readonly headers: ReadonlyMap<number, Block>;
}

const NOTHING: Traced = { transfers: [], unread: new Set() };

type Trace = (height: number) => ReturnType<InternalTransfers['trace']>;

/** Traces each block once, for the addresses of all requests. */
function createTracing(
  node: Node,
  requests: readonly LookUpRequest[],
  internal: Pick<InternalTransfers, 'trace'>,
): Trace {
  const traces = new Map<number, ReturnType<Trace>>();
  return height => {
    const known = traces.get(height);
    if (known !== undefined) return known;
    const watch = requests.flatMap(request => request.watch);
    const trace = internal.trace(node, height, watch);
    traces.set(height, trace);
    return trace;
  };
}

async function reportOf(
  node: Node,
  { transactionHash, watch }: LookUpRequest,
  { receipt, transaction: found, headers }: Found,
  trace: Trace,
): Promise<TransactionReport> {
  const block = headers.get(receipt.height);
  if (block === undefined || block.hash !== receipt.blockHash) {
    throw new NodeFailure(`${node.label} has a receipt of another branch`);
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
    transfers.push({
      blockchainId: own.network.id,
      transactionHash,
      position: 0,
      address: own.address,
      tokenAmount: transaction.value,
      block,
      inputs: null,
      maturity: 1,
    });
  }
  const mayTellMore = watched.native.size > 0 && receipt.gasUsed > PLAIN_TRANSFER_GAS;
  const answered = mayTellMore ? await trace(block.height) : NOTHING;
  const traced = answered?.unread.has(transactionHash) === true ? null : answered;
  if (traced?.transfers.some(each => each.block?.hash !== block.hash)) {
    throw new NodeFailure(`${node.label} has a trace of another branch`);
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
