import type { ChainAdapter, Unreadable } from '#chains/adapter.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findAwaited, listDepositsInBlocks } from '#storage/repositories/chains/audits.ts';
import { listConfiguredAddresses } from '#storage/repositories/chains/watch-list.ts';
import { findDeposits } from '#storage/repositories/deposits/deposits.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { weighTransfers } from '../../settlement/weigh-transfers.ts';
import { toWatched } from '../watch-list.ts';

/** Maximum number of deposits that are compared at once; a part with more is divided by its blocks. */
const DEPOSITS_MAXIMUM = 10_000;

/** A difference between a chain and the ledger. */
export interface Difference {
  readonly kind: 'missing' | 'differs' | 'not_on_chain';
  readonly transactionHash: string;
  readonly position: number;
  readonly address: string;
  readonly amount: bigint;
  readonly height: number | null;
  /** For operators. */
  readonly detail: string;
}

export interface AuditedPart {
  /** The last block that was compared. */
  readonly through: number;
  /** Transfers that the chain shows. */
  readonly transfers: number;
  readonly differences: readonly Difference[];
  /** Transfers, as the chain shows them, that differ from their final deposits, which have no payment. */
  readonly correctable: readonly ChainTransfer[];
  /** Elements of these blocks that cannot be read, and so not be compared. */
  readonly unreadable: readonly Unreadable[];
}

export interface AuditSubject {
  readonly db: Database;
  readonly adapter: ChainAdapter;
  readonly node: Node;
  readonly network: { readonly id: string; readonly chain: string };
}

/**
 * Scans as many blocks of a range as the adapter takes at once, and compares their transfers with the ledger. The
 * blocks have to be final. It credits nothing and changes no deposit.
 * @throws NodeFailure, RpcError.
 */
export async function auditPart(
  { db, adapter, node, network }: AuditSubject,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<AuditedPart> {
  const watch: readonly WatchedAddress[] = toWatched(await listConfiguredAddresses(db, network.id));
  const request = { from, to, watch, undoableFrom: to + 1, parentHash: null };
  const { through, transfers, unreadable = [] } = await adapter.scan(node, request);
  const last = Math.min(through.height, to);
  const own = transfers.filter(
    ({ blockchainId, block }) => blockchainId === network.id && (block?.height ?? 0) <= last,
  );
  const ledger = await listDepositsInBlocks(db, network.id, { from, to: last }, DEPOSITS_MAXIMUM);
  if (ledger.length === DEPOSITS_MAXIMUM && last > from) {
    return auditPart({ db, adapter, node, network }, { from, to: Math.floor((from + last) / 2) });
  }
  const known = await readKnown(db, own);
  return {
    through: last,
    transfers: own.length,
    unreadable,
    correctable: own.filter(transfer => {
      const deposit = known.get(keyOf(transfer));
      return deposit !== undefined && isCorrectable(deposit, transfer);
    }),
    differences: [
      ...(await findMissing(db, node, network.id, own, known)),
      ...(await findSurplus(adapter, node, watch, own, ledger)),
    ],
  };
}

/** The deposits of transfers, by their keys. */
async function readKnown(
  db: Connection,
  transfers: readonly ChainTransfer[],
): Promise<ReadonlyMap<string, Deposit>> {
  if (transfers.length === 0) return new Map();
  const deposits = await findDeposits(db, transfers);
  return new Map(
    deposits.map(deposit => [
      keyOf({ transactionHash: deposit.transaction_hash, position: deposit.position }),
      deposit,
    ]),
  );
}

/** A deposit that was credited is never changed; one that is not final yet follows the chain by itself. */
function isCorrectable(deposit: Deposit, transfer: ChainTransfer): boolean {
  const isFree =
    deposit.state === 'final' && deposit.payment_id === null && deposit.dismissed_at === null;
  return isFree && describeDifference(deposit, transfer) !== undefined;
}

const keyOf = ({
  transactionHash,
  position,
}: Pick<ChainTransfer, 'transactionHash' | 'position'>) => `${transactionHash}:${position}`;

/** Transfers on the chain that the ledger lacks although a payment waited for them, or records differently. */
async function findMissing(
  db: Connection,
  node: Node,
  blockchainId: string,
  transfers: readonly ChainTransfer[],
  known: ReadonlyMap<string, Deposit>,
): Promise<Difference[]> {
  if (transfers.length === 0) return [];
  const unknown = transfers.filter(transfer => !known.has(keyOf(transfer)));
  const places = await findAwaited(db, blockchainId, unknown.map(arrivalOf), LATE_FOR_MS);
  const awaited = places.flatMap(place => unknown[place] ?? []);
  const missing = new Set(await withoutDust(db, awaited));
  return transfers.flatMap((transfer): Difference[] => {
    const { transactionHash, position, address, tokenAmount: amount, block } = transfer;
    const place = { transactionHash, position, address, amount, height: block?.height ?? null };
    const deposit = known.get(keyOf(transfer));
    if (deposit === undefined) {
      if (!missing.has(transfer)) return [];
      const command = `mp network rescan ${transfer.blockchainId} --from ${place.height} --to ${place.height}`;
      const detail = `${node.label} shows it in block ${block?.hash}, and the ledger has not recorded it. ${command} records it.`;
      return [{ kind: 'missing', ...place, detail }];
    }
    const wrong = describeDifference(deposit, transfer);
    if (wrong === undefined) return [];
    const detail = `${node.label} shows it in block ${block?.hash}; in the ledger ${wrong}.${adviceFor(deposit, transfer)}`;
    return [{ kind: 'differs', ...place, detail }];
  });
}

/** Transfers except for those that were dust when they were made. */
async function withoutDust(
  db: Connection,
  transfers: readonly ChainTransfer[],
): Promise<ChainTransfer[]> {
  const kept: ChainTransfer[] = [];
  for (const [at, own] of Map.groupBy(transfers, ({ block }) => block?.time.getTime() ?? 0)) {
    const [since, madeBy] = [new Date(at - LATE_FOR_MS), new Date(at)];
    const weights = await weighTransfers(db, own, { since, until: madeBy, madeBy });
    kept.push(...own.filter((_, index) => weights[index] !== 'dust'));
  }
  return kept;
}

/** The address and the time of a transfer. */
function arrivalOf({ address, block }: ChainTransfer) {
  return { address, madeAt: block?.time ?? new Date(0) };
}

/** What an operator can do about a difference, if anything. */
function adviceFor(deposit: Deposit, transfer: ChainTransfer): string {
  if (!isCorrectable(deposit, transfer)) return '';
  const { blockchainId, block } = transfer;
  return ` mp network audit ${blockchainId} --from ${block?.height} --to ${block?.height} --correct records it as that node shows it.`;
}

function describeDifference(deposit: Deposit, transfer: ChainTransfer): string | undefined {
  if (BigInt(deposit.token_amount) !== transfer.tokenAmount) {
    return `its amount is ${deposit.token_amount}`;
  }
  if (deposit.address !== transfer.address) return `its address is ${deposit.address}`;
  if (deposit.state === 'reversed' || deposit.state === 'failed') return `it is ${deposit.state}`;
  // The watcher will finalise a seen deposit and record its block.
  if (deposit.state === 'seen' || deposit.block_hash === transfer.block?.hash) return undefined;
  return `its block is ${deposit.block_hash}`;
}

/** Deposits that are final in the ledger, and not on the chain. */
async function findSurplus(
  adapter: ChainAdapter,
  node: Node,
  watch: readonly WatchedAddress[],
  transfers: readonly ChainTransfer[],
  ledger: readonly Deposit[],
): Promise<Difference[]> {
  const shown = new Set(transfers.map(keyOf));
  const found: Difference[] = [];
  for (const deposit of ledger) {
    const { transaction_hash: transactionHash, position, address } = deposit;
    if (shown.has(keyOf({ transactionHash, position }))) continue;
    // The scan leaves out addresses that are no longer configured, and transfers by contracts.
    const why = await findAbsence(adapter, node, watch, deposit);
    if (why === undefined) continue;
    found.push({
      kind: 'not_on_chain',
      transactionHash,
      position,
      address,
      amount: BigInt(deposit.token_amount),
      height: deposit.block_height,
      detail: `The ledger has it as final in block ${deposit.block_hash}; ${node.label} ${why}.`,
    });
  }
  return found;
}

/** What a node reports of a deposit that is not among the scanned transfers; undefined if it is there, or may be. */
async function findAbsence(
  adapter: ChainAdapter,
  node: Node,
  watch: readonly WatchedAddress[],
  deposit: Deposit,
): Promise<string | undefined> {
  const own = watch.find(each => each.network.id === deposit.blockchain_id)?.network ?? {
    id: deposit.blockchain_id,
    contract: null,
  };
  const report = await adapter.lookUp(node, {
    transactionHash: deposit.transaction_hash,
    watch: [{ network: own, address: deposit.address }],
    inputs: deposit.inputs,
    blockHash: deposit.block_hash,
  });
  if (report.status !== 'included') return `says that its transaction is ${report.status}`;
  if (report.block.hash !== deposit.block_hash) return `has it in block ${report.block.hash}`;
  if (report.untraced === true) return undefined;
  const isShown = report.transfers.some(({ position }) => position === deposit.position);
  return isShown ? undefined : 'shows its transaction without it';
}
