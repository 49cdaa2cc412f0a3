import { type Node, NodeFailure } from '../nodes/node.ts';
import { type Fields, failure, toFields, toList, toMatch, toNatural } from '../responses.ts';
import type { Block } from '../transfer.ts';

const HASH = /^[0-9a-f]{64}$/i;
/** An address as the wallet interface writes it: 0x41 and 20 bytes. */
const ADDRESS = /^41([0-9a-f]{40})$/i;

/** A safe integer of 0 or more. java-tron leaves out fields that are 0. */
function toInteger(node: Node, value: unknown, what: string): number {
  return value === undefined ? 0 : toNatural(node, value, what);
}

/** An amount in sun. Numbers beyond 2^53 - 1 were parsed as a bigint. */
export function toSun(node: Node, value: unknown, what: string): bigint {
  if (typeof value !== 'bigint') return BigInt(toInteger(node, value, what));
  if (value < 0n) throw failure(node, `${what} is no number`);
  return value;
}

/** 32 bytes, in lower case, without 0x. */
export function toHash(node: Node, value: unknown, what: string): string {
  return toMatch(node, value, HASH, what, 'hash').toLowerCase();
}

/** 20 bytes in lower case, with 0x; undefined for anything else. */
export function toHexOrNothing(value: unknown): string | undefined {
  const match = typeof value === 'string' ? ADDRESS.exec(value) : null;
  return match?.[1] === undefined ? undefined : `0x${match[1].toLowerCase()}`;
}

/** The name of an asset, which anyone can choose; empty unless it is text. */
function toTextOrNothing(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A block of the wallet interface. */
export interface WalletBlock extends Block {
  /** As the node has sent them: one that cannot be read must not stop the others. */
  readonly transactions: readonly unknown[];
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
  if (block.height !== height) throw failure(node, `block ${block.height} came for ${height}`);
  const transactions = toList(node, fields.transactions ?? [], 'the transactions of a block');
  return { ...block, transactions };
}

/** The hash of a transaction whose other fields may be unreadable; null if it has none. */
export function hashOrNull(value: unknown, name: 'txID' | 'id'): string | null {
  const hash = (value as Fields | null | undefined)?.[name];
  return typeof hash === 'string' && HASH.test(hash) ? hash.toLowerCase() : null;
}

/** A transfer by an account itself: of TRX, or of a TRC-10 asset, in which no payment is made. */
type PlainTransfer = {
  readonly hash: string;
  readonly to: string;
  readonly succeeded: boolean;
} & (
  | {
      readonly kind: 'trx';
      /** In sun. */
      readonly amount: bigint;
    }
  | {
      readonly kind: 'trc-10';
      /** Name of the asset. */
      readonly asset: string;
    }
);

/** The contract of a transaction, which has exactly one (Tron.proto, Transaction). Its type says what it does. */
export function contractOf(node: Node, value: unknown): Fields & { readonly type: string } {
  const raw = toFields(node, toFields(node, value, 'a transaction').raw_data, 'a transaction');
  const [only] = toList(node, raw.contract, 'the contract of a transaction');
  const contract = toFields(node, only, 'the contract of a transaction');
  const { type } = contract;
  if (typeof type !== 'string') throw failure(node, 'the contract of a transaction has no type');
  return { ...contract, type };
}

/** Types of contracts that are plain transfers (java-tron, Tron.proto, ContractType). */
const TRX = 'TransferContract';
const TRC_10 = 'TransferAssetContract';

/**
 * Reads a transaction as a plain transfer.
 * @param isOfInterest Whether a transfer to this address is read. Anyone can make a TRC-10 asset and send any amount
 * of it, so other transfers are not read, and neither is the amount of a TRC-10 asset.
 * @returns undefined for any other kind of transaction, and for a transfer that is of no interest.
 * @throws NodeFailure
 */
export function toPlainTransfer(
  node: Node,
  value: unknown,
  isOfInterest: (to: string) => boolean = () => true,
): PlainTransfer | undefined {
  const contract = contractOf(node, value);
  if (contract.type !== TRX && contract.type !== TRC_10) return undefined;
  const parameter = toFields(node, contract.parameter, 'the parameter of a transfer');
  const transfer = toFields(node, parameter.value, 'the parameter of a transfer');
  const to = toHexOrNothing(transfer.to_address);
  if (to === undefined) throw failure(node, 'the recipient of a transfer is no address');
  if (!isOfInterest(to)) return undefined;
  const fields = toFields(node, value, 'a transaction');
  const [result] = toList(node, fields.ret, 'the result of a transaction');
  const { contractRet } = toFields(node, result, 'the result of a transaction');
  if (typeof contractRet !== 'string') throw failure(node, 'a transaction has no result');
  const shared = {
    hash: toHash(node, fields.txID, 'the hash of a transaction'),
    to,
    succeeded: contractRet === 'SUCCESS',
  };
  return contract.type === TRX
    ? { ...shared, kind: 'trx', amount: toSun(node, transfer.amount, 'the amount of a transfer') }
    : { ...shared, kind: 'trc-10', asset: toTextOrNothing(transfer.asset_name) };
}

/** The information that a node keeps of a transaction in a block. */
export interface TransactionInfo {
  readonly hash: string;
  readonly height: number;
  readonly succeeded: boolean;
  readonly internal: readonly InternalTransfer[];
}

/** TRX that a contract has sent. */
interface InternalTransfer {
  /** Index among the internal transactions, including those without TRX. */
  readonly index: number;
  readonly to: string;
  /** In sun. */
  readonly amount: bigint;
}

/**
 * @param isOfInterest Whether what contracts send to this address is read.
 * @throws NodeFailure
 */
export function toInfo(
  node: Node,
  value: unknown,
  isOfInterest: (to: string) => boolean = () => true,
): TransactionInfo {
  const fields = toFields(node, value, 'the information on a transaction');
  const receipt = toFields(node, fields.receipt ?? {}, 'the receipt of a transaction');
  const { result } = receipt;
  // A plain transfer has no result; for a reverted contract call both fields say so.
  const succeeded = fields.result !== 'FAILED' && (result === undefined || result === 'SUCCESS');
  const internal = toList(node, fields.internal_transactions ?? [], 'internal transactions');
  return {
    hash: toHash(node, fields.id, 'the hash of a transaction'),
    height: toInteger(node, fields.blockNumber, 'the block of a transaction'),
    succeeded,
    internal: internal.flatMap((each, index) => toInternal(node, each, index, isOfInterest)),
  };
}

function toInternal(
  node: Node,
  value: unknown,
  index: number,
  isOfInterest: (to: string) => boolean,
): InternalTransfer[] {
  const fields = toFields(node, value, 'an internal transaction');
  const to = toHexOrNothing(fields.transferTo_address);
  if (fields.rejected === true || (to !== undefined && !isOfInterest(to))) return [];
  const amount = internalSun(node, fields);
  // A contract that pays itself has no more than before.
  if (amount === 0n || (to !== undefined && to === toHexOrNothing(fields.caller_address)))
    return [];
  if (to === undefined) throw failure(node, 'an internal transaction goes to no address');
  return [{ index, to, amount }];
}

/** TRX that an internal transaction moves, in sun. */
function internalSun(node: Node, { callValueInfo }: Fields): bigint {
  let amount = 0n;
  for (const each of toList(node, callValueInfo ?? [], 'the value of an internal transaction')) {
    const { callValue, tokenId } = toFields(node, each, 'the value of an internal transaction');
    // With an ID it is a TRC-10 asset.
    if (tokenId !== undefined && tokenId !== '') continue;
    amount += toSun(node, callValue, 'the value of an internal transaction');
  }
  return amount;
}

/** What internal transactions move, from whom and to whom; an address that cannot be read is undefined. */
export function toInternalMoves(node: Node, { internal_transactions: list }: Fields) {
  return toList(node, list ?? [], 'internal transactions').flatMap(each => {
    const fields = toFields(node, each, 'an internal transaction');
    if (fields.rejected === true) return [];
    const from = toHexOrNothing(fields.caller_address);
    const to = toHexOrNothing(fields.transferTo_address);
    return [{ from, to, amount: internalSun(node, fields) }];
  });
}
