import { BLOCK_TIMEOUT_MS, type Node, NodeFailure } from '../../nodes/node.ts';
import type { Movement } from '../adapter.ts';
import { orThrow, toAddressOrNull, toAmount, toFields, toList } from './answers.ts';
import { type BlockTransaction, readWholeBlocks, type WholeBlock } from './blocks.ts';
import { toReceipt } from './transfer-logs.ts';

/** Withdrawals of validators are in gwei (EIP-4895). */
const WEI_PER_GWEI = 1_000_000_000n;
/** Receipts that are asked for in one batch. */
const RECEIPTS_PER_BATCH = 50;

/** What came of a top-level transaction. */
interface Outcome {
  readonly succeeded: boolean;
  /** In wei: gas, and blobs (EIP-4844). */
  readonly fee: bigint;
}

/**
 * What a block did to balances outside of contracts: values of successful top-level transactions, fees of
 * all of them, and withdrawals of validators. A value that a top-level transaction gives to a contract that
 * it creates is left to the trace, which shows where the contract is. Rewards of the block's proposer are
 * not told.
 * @returns Movements with the spelling of `addresses`, several for an address that moved several times.
 * @throws NodeFailure
 */
export async function readMovements(
  node: Node,
  height: number,
  addresses: readonly string[],
): Promise<readonly Movement[]> {
  const spelling = new Map(addresses.map(address => [address.toLowerCase(), address]));
  const [block] = await readWholeBlocks(node, [height]);
  if (block === undefined) throw new NodeFailure(`${node.label} has no block ${height}`);
  const concerned = block.transactions.filter(
    ({ from, to }) => spelling.has(from ?? '') || spelling.has(to ?? ''),
  );
  const outcomes = await readOutcomes(node, block, concerned);
  const movements: Movement[] = [];
  const move = (address: string | null, amount: bigint) => {
    const own = spelling.get(address ?? '');
    if (own !== undefined && amount !== 0n) movements.push({ address: own, amount });
  };
  for (const [index, { from, to, value }] of concerned.entries()) {
    const { succeeded, fee } = outcomes[index] ?? { succeeded: false, fee: 0n };
    move(from, -fee);
    if (!succeeded) continue;
    move(from, -value);
    move(to, value);
  }
  for (const { to, amount } of readWithdrawals(node, block)) move(to, amount);
  return movements;
}

async function readOutcomes(
  node: Node,
  block: WholeBlock,
  transactions: readonly BlockTransaction[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let next = 0; next < transactions.length; next += RECEIPTS_PER_BATCH) {
    const together = transactions.slice(next, next + RECEIPTS_PER_BATCH);
    const answers = await node.batch(
      together.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      { timeoutMs: BLOCK_TIMEOUT_MS },
    );
    for (const [index, { hash }] of together.entries()) {
      outcomes.push(toOutcome(node, orThrow(answers[index]), hash, block));
    }
  }
  return outcomes;
}

function toOutcome(node: Node, answer: unknown, hash: string, block: WholeBlock): Outcome {
  const receipt = toReceipt(node, answer, hash);
  if (receipt?.blockHash !== block.hash) {
    throw new NodeFailure(`${node.label}: a receipt is missing, or of another branch`);
  }
  const fields = toFields(node, answer, 'a receipt');
  const price = toAmount(node, fields.effectiveGasPrice, 'the gas price of a receipt');
  const blobs =
    fields.blobGasUsed === undefined || fields.blobGasUsed === null
      ? 0n
      : toAmount(node, fields.blobGasUsed, 'the blob gas of a receipt') *
        toAmount(node, fields.blobGasPrice, 'the blob gas price of a receipt');
  return { succeeded: receipt.succeeded, fee: BigInt(receipt.gasUsed) * price + blobs };
}

function readWithdrawals(node: Node, { fields }: WholeBlock) {
  const { withdrawals = [] } = fields;
  if (withdrawals === null) return [];
  return toList(node, withdrawals, 'the withdrawals of a block').map(each => {
    const withdrawal = toFields(node, each, 'a withdrawal');
    return {
      to: toAddressOrNull(node, withdrawal.address, 'the recipient of a withdrawal'),
      amount: toAmount(node, withdrawal.amount, 'the amount of a withdrawal') * WEI_PER_GWEI,
    };
  });
}
