import type { ChainAdapter, LookUpRequest, TransactionReport } from '#chains/adapter.ts';
import { failureOf, type Node, type NodeFailure } from '#chains/nodes/node.ts';
import { isCounted } from '#chains/nodes/open-node.ts';
import { inParts } from '#chains/ranges.ts';
import { type ChainTransfer, transferTo } from '#chains/transfer.ts';
import type { UnsettledDeposit } from '#storage/repositories/deposits/watched-deposits.ts';
import { differs } from '../../settlement/correct-deposit.ts';
import type { Watcher } from '../watcher.ts';

/** Number of transactions in a batch, and of concurrent requests if the adapter does not batch. */
const TOGETHER = 100;
const CONCURRENCY = 16;

/** A deposit and a node's report of its transaction. */
export interface LookedUp {
  readonly deposit: UnsettledDeposit;
  readonly report: TransactionReport;
  /** The transfer of the report with the same position, address and amount; undefined if there is none. */
  readonly transfer: ChainTransfer | undefined;
  /** A transfer of the report at the same position with another amount or address. */
  readonly other: ChainTransfer | undefined;
  /** Whether a contract sent it and the node does not trace, so that the report may lack it. */
  readonly isUntraced: boolean;
}

/**
 * Asks a node for the transactions of deposits, each once.
 * @param finalHeight Deposits in blocks up to this height have to be in a final block; null for none.
 * @throws NodeFailure
 */
export async function lookUpDeposits(
  { adapter }: Pick<Watcher, 'adapter'>,
  node: Node,
  deposits: readonly UnsettledDeposit[],
  finalHeight: number | null = null,
): Promise<LookedUp[]> {
  const transactions = [...Map.groupBy(deposits, ({ transaction_hash: hash }) => hash)];
  const found: LookedUp[] = [];
  const size = adapter.lookUpAll === undefined ? CONCURRENCY : TOGETHER;
  for (const together of inParts(transactions, size)) {
    const requests = together.map(([transactionHash, own]) => ({
      transactionHash,
      watch: own.map(toWatched),
      inputs: own[0]?.inputs ?? null,
      ancestry: own[0]?.ancestry ?? null,
      blockHash: own[0]?.block_hash ?? null,
      isFinal: own.every(({ block_height: height }) => (height ?? Infinity) <= (finalHeight ?? -1)),
    }));
    const reports = await lookUpEach(adapter, node, requests);
    for (const [index, [, own]] of together.entries()) {
      const report = reports[index];
      if (report === undefined) continue;
      for (const deposit of own) {
        const isUntraced = isUntracedIn(report, deposit);
        const inPlace = findInPlace(report, deposit);
        const isSame = inPlace !== undefined && !differs(deposit, inPlace);
        const unseen = isUntraced ? asSeen(report, deposit) : undefined;
        const transfer = isSame ? inPlace : unseen;
        const other = isSame ? undefined : inPlace;
        found.push({ deposit, report, transfer, other, isUntraced });
      }
    }
  }
  return found;
}

/**
 * Reports in the order of the requests. A request that the node fails at gets the report `unreadable`.
 * @throws NodeFailure if the node fails at all of several requests, or does not respond at all.
 */
async function lookUpEach(
  adapter: ChainAdapter,
  node: Node,
  requests: readonly LookUpRequest[],
): Promise<readonly TransactionReport[]> {
  if (adapter.lookUpAll !== undefined && requests.length > 1) {
    return adapter.lookUpAll(node, requests);
  }
  const failures: NodeFailure[] = [];
  const reports = await Promise.all(
    requests.map(async (request): Promise<TransactionReport> => {
      try {
        return await adapter.lookUp(node, request);
      } catch (error) {
        const failure = failureOf(node, error);
        if (failure === undefined) throw error;
        failures.push(failure);
        return { status: 'unreadable', detail: failure.message };
      }
    }),
  );
  const [first, ...others] = failures;
  if (first === undefined || failures.length < requests.length) return reports;
  if (others.length > 0 || isCounted(first)) throw first;
  return reports;
}

export function toWatched({ blockchain_id: id, contract, address }: UnsettledDeposit) {
  return { network: { id, contract }, address };
}

function findInPlace(
  report: TransactionReport,
  { blockchain_id: blockchainId, position }: UnsettledDeposit,
): ChainTransfer | undefined {
  if (report.status !== 'included' && report.status !== 'pending') return undefined;
  return report.transfers.find(
    each => each.blockchainId === blockchainId && each.position === position,
  );
}

function isUntracedIn(
  report: TransactionReport,
  { contract, position }: UnsettledDeposit,
): boolean {
  const isInternal = contract === null && position > 0;
  return isInternal && report.status === 'included' && report.untraced === true;
}

/**
 * The transfer as it is recorded, if its transaction is still in the same block: the block's hash commits to its
 * contents.
 */
function asSeen(report: TransactionReport, deposit: UnsettledDeposit): ChainTransfer | undefined {
  if (report.status !== 'included' || report.block.hash !== deposit.block_hash) return undefined;
  const { transaction_hash: transactionHash, position, token_amount: amount } = deposit;
  const arrived = { transactionHash, position, tokenAmount: BigInt(amount), block: report.block };
  return transferTo(toWatched(deposit), arrived);
}
