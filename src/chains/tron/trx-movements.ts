import type { Moved } from '../holdings.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import { toFields, toList } from '../responses.ts';
import { readEach } from '../unreadable.ts';
import { readBlocks, readInfos } from './native.ts';
import {
  contractOf,
  hashOrNull,
  toHexOrNothing,
  toInfo,
  toInternalMoves,
  toSun,
  type WalletBlock,
} from './responses.ts';

/** Blocks of one request, some 6 MB. */
const BLOCKS_TOGETHER = 20;

/** A sum for each address, in hex. */
type Sums = ReadonlyMap<string, { arrived: bigint; left: bigint }>;

const IGNORE = (): void => undefined;

/**
 * What moved the TRX of addresses in solid blocks, as far as the node shows it: transfers and calls, fees, stakes, and
 * withdrawn rewards. Transfers by contracts take a call for each block, and are read only if the blocks are few.
 * What is not read is left out: then a part of the balance's rise stays unexplained.
 * @param addresses In hex.
 * @param range The first and the last height, both included and solid.
 * @throws NodeFailure
 */
export async function readTrxMoved(
  node: Node,
  range: { readonly from: number; readonly to: number },
  addresses: readonly string[],
): Promise<ReadonlyMap<string, Moved>> {
  const sums: Sums = new Map(addresses.map(address => [address, { arrived: 0n, left: 0n }]));
  for (let from = range.from; from <= range.to; from += BLOCKS_TOGETHER) {
    const to = Math.min(range.to, from + BLOCKS_TOGETHER - 1);
    const areFew = range.to - range.from < BLOCKS_TOGETHER;
    for (const block of await readBlocks(node, from, to)) await addBlock(node, block, sums, areFew);
  }
  return sums;
}

async function addBlock(
  node: Node,
  block: WalletBlock,
  sums: Sums,
  readsCalls: boolean,
): Promise<void> {
  const read = readEach(block.transactions, each => [toMove(node, each)], IGNORE, true);
  const own = new Map(read.filter(({ from }) => sums.has(from)).map(each => [each.hash, each]));
  for (const { from, to, amount, succeeded } of read) {
    if (!succeeded) continue;
    add(sums, from, 'left', amount);
    if (to !== undefined) add(sums, to, 'arrived', amount);
  }
  if (!readsCalls && own.size === 0) return;
  const infos = await readInfos(node, block, true, own.size > 0);
  readEach(
    infos,
    each => {
      const fields = toFields(node, each, 'the information on a transaction');
      const sender = own.get(hashOrNull(each, 'id') ?? '')?.from;
      if (sender !== undefined) {
        add(sums, sender, 'left', toSun(node, fields.fee, 'the fee of a transaction'));
        for (const returned of RETURNED) {
          add(sums, sender, 'arrived', toSun(node, fields[returned], 'what a stake returns'));
        }
      }
      if (!toInfo(node, each, () => false).succeeded) return [];
      for (const { from, to, amount } of toInternalMoves(node, fields)) {
        if (from !== undefined) add(sums, from, 'left', amount);
        if (to !== undefined) add(sums, to, 'arrived', amount);
      }
      return [];
    },
    IGNORE,
    true,
  );
}

/** Fields of the information on a transaction with what it paid to its owner (java-tron, TransactionInfo). */
const RETURNED = ['withdraw_amount', 'unfreeze_amount', 'withdraw_expire_amount'] as const;

/** Types of contracts that take TRX from their owner, and the field with the amount in sun (java-tron, Tron.proto). */
const TAKEN: Readonly<Record<string, string>> = {
  TransferContract: 'amount',
  TriggerSmartContract: 'call_value',
  FreezeBalanceContract: 'frozen_balance',
  FreezeBalanceV2Contract: 'frozen_balance',
};

/** What a transaction itself moves; the amount is 0 for a type that moves nothing by itself. */
function toMove(node: Node, transaction: unknown) {
  const { type, parameter } = contractOf(node, transaction);
  const { value } = toFields(node, parameter, 'the parameter of a transaction');
  const fields = toFields(node, value, 'the parameter of a transaction');
  const from = toHexOrNothing(fields.owner_address);
  const hash = hashOrNull(transaction, 'txID');
  if (from === undefined || hash === null) {
    throw new NodeFailure(`${node.label}: a transaction has no owner or no hash`);
  }
  const { ret } = toFields(node, transaction, 'a transaction');
  const [result] = toList(node, ret, 'the result of a transaction');
  const { contractRet } = toFields(node, result, 'the result of a transaction');
  const taken = TAKEN[type];
  const amount = taken === undefined ? 0n : toSun(node, fields[taken], 'what a transaction takes');
  const to =
    type === 'TransferContract'
      ? toHexOrNothing(fields.to_address)
      : type === 'TriggerSmartContract'
        ? toHexOrNothing(fields.contract_address)
        : undefined;
  return { hash, from, to, amount, succeeded: contractRet === 'SUCCESS' };
}

function add(sums: Sums, address: string, side: 'arrived' | 'left', amount: bigint): void {
  const sum = sums.get(address);
  if (sum !== undefined) sum[side] += amount;
}
