import type { LookUpRequest, TransactionReport } from '../../chains/adapter.ts';
import type { ChainTransfer } from '../../chains/transfer.ts';
import type { Node } from '../../nodes/node.ts';
import type { UnsettledDeposit } from '../../repositories/deposits/watched-deposits.ts';
import { differs } from '../../settlement/correct-deposit.ts';
import type { Watcher } from '../watcher.ts';

/** Transactions that are asked for at once, and by themselves where an adapter does not batch them. */
const TOGETHER = 100;
const CONCURRENCY = 16;

/** A deposit and what a node says of its transaction. */
export interface Placed {
  readonly deposit: UnsettledDeposit;
  readonly report: TransactionReport;
  /** The same transfer in the report: its position, address and amount; undefined if it has no such. */
  readonly transfer: ChainTransfer | undefined;
  /** A transfer in its place that is of another amount, or to another of the addresses that were asked for. */
  readonly other: ChainTransfer | undefined;
  /** Whether a contract sent it and the node does not trace, so that it may be there and not be told. */
  readonly isUntraced: boolean;
}

/**
 * Asks a node for the transactions of deposits, each once.
 * @param finalHeight What is in a block up to here has to be final there; null for none.
 * @throws NodeFailure
 */
export async function lookUpDeposits(
  { adapter }: Pick<Watcher, 'adapter'>,
  node: Node,
  deposits: readonly UnsettledDeposit[],
  finalHeight: number | null = null,
): Promise<Placed[]> {
  const transactions = [...Map.groupBy(deposits, ({ transaction_hash: hash }) => hash)];
  const placed: Placed[] = [];
  const size = adapter.lookUpAll === undefined ? CONCURRENCY : TOGETHER;
  for (let next = 0; next < transactions.length; next += size) {
    const together = transactions.slice(next, next + size);
    const requests = together.map(([transactionHash, own]) => ({
      ...requestFor(transactionHash, own),
      isFinal: own.every(({ block_height: height }) => (height ?? Infinity) <= (finalHeight ?? -1)),
    }));
    const reports = await (adapter.lookUpAll?.(node, requests) ??
      Promise.all(requests.map(request => adapter.lookUp(node, request))));
    for (const [index, [, own]] of together.entries()) {
      const report = reports[index];
      if (report === undefined) continue;
      for (const deposit of own) {
        const isUntraced = mayBeUntold(report, deposit);
        const inPlace = findInPlace(report, deposit);
        const isSame = inPlace !== undefined && !differs(deposit, inPlace);
        const unseen = isUntraced ? asSeen(report, deposit) : undefined;
        const transfer = isSame ? inPlace : unseen;
        const other = isSame ? undefined : inPlace;
        placed.push({ deposit, report, transfer, other, isUntraced });
      }
    }
  }
  return placed;
}

function requestFor(transactionHash: string, own: readonly UnsettledDeposit[]): LookUpRequest {
  const [first] = own;
  return {
    transactionHash,
    watch: own.map(toWatched),
    inputs: first?.inputs ?? null,
    blockHash: first?.block_hash ?? null,
  };
}

function toWatched({ blockchain_id: id, contract, address }: UnsettledDeposit) {
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

function mayBeUntold(report: TransactionReport, { contract, position }: UnsettledDeposit): boolean {
  const isInternal = contract === null && position > 0;
  return isInternal && report.status === 'included' && report.untraced === true;
}

/** The transfer as it was seen, if it is in the same block: its hash stands for everything in it. */
function asSeen(report: TransactionReport, deposit: UnsettledDeposit): ChainTransfer | undefined {
  if (report.status !== 'included' || report.block.hash !== deposit.block_hash) return undefined;
  return {
    blockchainId: deposit.blockchain_id,
    transactionHash: deposit.transaction_hash,
    position: deposit.position,
    address: deposit.address,
    tokenAmount: BigInt(deposit.token_amount),
    block: report.block,
    inputs: null,
    maturity: 1,
  };
}
