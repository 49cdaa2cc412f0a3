import type { Movement } from '../internal-transfers.ts';
import type { MissingItems } from '../missing-items.ts';
import { LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import { toFields, toList } from '../responses.ts';
import { readEach, readOrFailure } from '../unreadable.ts';
import { readWholeBlocks, toTransaction, type WholeBlock } from './blocks.ts';
import { type Receipt, readReceipts, requireReceipt } from './receipts.ts';
import { toAddressOrNull, toAmount } from './responses.ts';

/** Withdrawals of validators are in gwei (EIP-4895). */
const WEI_PER_GWEI = 1_000_000_000n;

const IGNORE = (): void => undefined;
const lower = (address: unknown) => (typeof address === 'string' ? address.toLowerCase() : '');

/**
 * Changes of balances by a block, except for those by contracts: values of successful top-level transactions, fees
 * of all of them, and withdrawals of validators. The value that a top-level transaction gives to a contract that it
 * creates is left to the trace, which shows the contract's address. Rewards of the block's proposer are left out.
 * @returns Movements with the spelling of `addresses`; several if an address moved several times.
 * @throws NodeFailure, LaggingNode if a later look may find a missing receipt.
 */
export async function readMovements(
  node: Node,
  height: number,
  addresses: readonly string[],
  misses: MissingItems,
): Promise<readonly Movement[]> {
  const spelling = new Map(addresses.map(address => [address.toLowerCase(), address]));
  const [block] = await readWholeBlocks(node, [height]);
  if (block === undefined) throw new NodeFailure(`${node.label} has no block ${height}`);
  // A transaction that cannot be read is left out: then a part of the balance's rise stays unexplained.
  const concerned = readEach(
    block.transactions,
    each => {
      const { from, to } = toFields(node, each, 'a transaction');
      const isConcerned = spelling.has(lower(from)) || spelling.has(lower(to));
      return isConcerned ? [toTransaction(node, each)] : [];
    },
    IGNORE,
  );
  const receipts = await readReceipts(
    node,
    concerned.map(({ hash }) => hash),
  );
  const movements: Movement[] = [];
  const move = (address: string | null, amount: bigint) => {
    const own = spelling.get(address ?? '');
    if (own !== undefined && amount !== 0n) movements.push({ address: own, amount });
  };
  const read = concerned.map(each => ({
    ...each,
    receipt: requireReceipt(node, receipts, each.hash, block),
  }));
  const missing = read.filter(({ receipt }) => receipt instanceof LaggingNode);
  const isOneThere = missing.length < read.length;
  const [again] = misses.count(missing, ({ hash }) => hash, isOneThere);
  if (again?.receipt instanceof LaggingNode) throw again.receipt;
  for (const { from, to, value, receipt } of read) {
    if (receipt instanceof NodeFailure) continue;
    const fee = readOrFailure(() => feeOf(node, receipt));
    if (!(fee instanceof NodeFailure)) move(from, -fee);
    if (!receipt.succeeded) continue;
    move(from, -value);
    move(to, value);
  }
  for (const { to, amount } of readWithdrawals(node, block)) move(to, amount);
  return movements;
}

/** The fee of a transaction in wei: gas, and blobs (EIP-4844). */
function feeOf(node: Node, { fields, gasUsed }: Receipt): bigint {
  const price = toAmount(node, fields.effectiveGasPrice, 'the gas price of a receipt');
  const blobs =
    fields.blobGasUsed === undefined || fields.blobGasUsed === null
      ? 0n
      : toAmount(node, fields.blobGasUsed, 'the blob gas of a receipt') *
        toAmount(node, fields.blobGasPrice, 'the blob gas price of a receipt');
  return BigInt(gasUsed) * price + blobs;
}

function readWithdrawals(node: Node, { withdrawals }: WholeBlock) {
  if (withdrawals === undefined || withdrawals === null) return [];
  return readEach(
    toList(node, withdrawals, 'the withdrawals of a block'),
    each => {
      const withdrawal = toFields(node, each, 'a withdrawal');
      const to = toAddressOrNull(node, withdrawal.address, 'the recipient of a withdrawal');
      const amount = toAmount(node, withdrawal.amount, 'the amount of a withdrawal');
      return [{ to, amount: amount * WEI_PER_GWEI }];
    },
    IGNORE,
  );
}
