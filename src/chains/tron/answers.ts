import { type Node, NodeFailure } from '../../nodes/node.ts';
import type { Block } from '../adapter.ts';
import { type Fields, toFields, toList } from '../answers.ts';

const HASH = /^[0-9a-f]{64}$/i;
/** An address as the wallet interface writes it: 0x41 and 20 bytes. */
const ADDRESS = /^41([0-9a-f]{40})$/i;

/** java-tron leaves numbers that are 0 out. */
export function toInteger(node: Node, value: unknown, what: string): number {
  if (value === undefined) return 0;
  if (!Number.isSafeInteger(value) || Number(value) < 0) {
    throw new NodeFailure(`${node.label}: ${what} is no number`);
  }
  return Number(value);
}

/** 32 bytes, in lower case, without 0x. */
export function toHash(node: Node, value: unknown, what: string): string {
  if (typeof value !== 'string' || !HASH.test(value)) {
    throw new NodeFailure(`${node.label}: ${what} is no hash`);
  }
  return value.toLowerCase();
}

/** 20 bytes in lower case, with 0x; undefined for anything else. */
export function toHexOrNothing(value: unknown): string | undefined {
  const match = typeof value === 'string' ? ADDRESS.exec(value) : null;
  return match?.[1] === undefined ? undefined : `0x${match[1].toLowerCase()}`;
}

/** A block as the wallet interface tells it. */
export interface WalletBlock extends Block {
  readonly transactions: readonly Fields[];
}

/** @throws NodeFailure for anything but the block of this height. */
export function toWalletBlock(node: Node, value: unknown, height: number): WalletBlock {
  const fields = toFields(node, value, 'a block');
  // A block that does not exist is an empty object.
  if (fields.blockID === undefined) throw new NodeFailure(`${node.label} has no block ${height}`);
  const header = toFields(node, fields.block_header, 'the header of a block');
  const raw = toFields(node, header.raw_data, 'the header of a block');
  const block = {
    height: toInteger(node, raw.number, 'the number of a block'),
    hash: toHash(node, fields.blockID, 'the ID of a block'),
    parentHash: toHash(node, raw.parentHash, 'the parent of a block'),
    time: new Date(toInteger(node, raw.timestamp, 'the time of a block')),
  };
  if (block.height !== height) {
    throw new NodeFailure(`${node.label}: block ${block.height} came for ${height}`);
  }
  const transactions = toList(node, fields.transactions ?? [], 'the transactions of a block');
  return {
    ...block,
    transactions: transactions.map(each => toFields(node, each, 'a transaction')),
  };
}

/** A transfer of TRX, or of a TRC-10 asset, which is worth nothing here, by the account's own hand. */
export interface PlainTransfer {
  readonly hash: string;
  readonly kind: 'trx' | 'trc-10';
  /** Name of the asset; null for TRX. */
  readonly asset: string | null;
  readonly to: string | undefined;
  /** In sun. */
  readonly amount: bigint;
  readonly succeeded: boolean;
}

/** What a transaction does: it has one contract of a type (Tron.proto, Transaction). */
export function contractOf(node: Node, fields: Fields): Fields {
  const raw = toFields(node, fields.raw_data, 'a transaction');
  const [only] = toList(node, raw.contract, 'the contract of a transaction');
  return toFields(node, only, 'the contract of a transaction');
}

/** Reads a transaction as a plain transfer; undefined for any other kind. */
export function toPlainTransfer(node: Node, fields: Fields): PlainTransfer | undefined {
  const contract = contractOf(node, fields);
  const isTrx = contract.type === 'TransferContract';
  if (!isTrx && contract.type !== 'TransferAssetContract') return undefined;
  const parameter = toFields(node, contract.parameter, 'the parameter of a transfer');
  const value = toFields(node, parameter.value, 'the parameter of a transfer');
  const [result] = toList(node, fields.ret ?? [], 'the result of a transaction');
  const succeeded =
    typeof result === 'object' && result !== null && (result as Fields).contractRet === 'SUCCESS';
  return {
    hash: toHash(node, fields.txID, 'the hash of a transaction'),
    kind: isTrx ? 'trx' : 'trc-10',
    asset: isTrx ? null : String(value.asset_name ?? ''),
    to: toHexOrNothing(value.to_address),
    amount: BigInt(toInteger(node, value.amount, 'the amount of a transfer')),
    succeeded,
  };
}

/** What a node keeps of a transaction that is in a block. */
export interface TransactionInfo {
  readonly hash: string;
  readonly height: number;
  readonly succeeded: boolean;
  readonly internal: readonly InternalTransfer[];
}

/** TRX that a contract has sent. */
export interface InternalTransfer {
  /** Its place among the internal transactions, those without TRX included. */
  readonly place: number;
  readonly to: string | undefined;
  /** In sun. */
  readonly amount: bigint;
}

export function toInfo(node: Node, value: unknown): TransactionInfo {
  const fields = toFields(node, value, 'the information on a transaction');
  const receipt = toFields(node, fields.receipt ?? {}, 'the receipt of a transaction');
  const { result } = receipt;
  // A plain transfer has no result; a contract call that was undone says so in both places.
  const succeeded = fields.result !== 'FAILED' && (result === undefined || result === 'SUCCESS');
  const internal = toList(node, fields.internal_transactions ?? [], 'internal transactions');
  return {
    hash: toHash(node, fields.id, 'the hash of a transaction'),
    height: toInteger(node, fields.blockNumber, 'the block of a transaction'),
    succeeded,
    internal: internal.flatMap((each, place) => toInternal(node, each, place)),
  };
}

function toInternal(node: Node, value: unknown, place: number): InternalTransfer[] {
  const fields = toFields(node, value, 'an internal transaction');
  if (fields.rejected === true) return [];
  const values = toList(node, fields.callValueInfo ?? [], 'the value of an internal transaction');
  let amount = 0n;
  for (const each of values) {
    const { callValue, tokenId } = toFields(node, each, 'the value of an internal transaction');
    // With an ID it is a TRC-10 asset.
    if (tokenId !== undefined && tokenId !== '') continue;
    amount += BigInt(toInteger(node, callValue, 'the value of an internal transaction'));
  }
  // A contract that pays itself has no more than before.
  const to = toHexOrNothing(fields.transferTo_address);
  return amount === 0n || to === toHexOrNothing(fields.caller_address)
    ? []
    : [{ place, to, amount }];
}
