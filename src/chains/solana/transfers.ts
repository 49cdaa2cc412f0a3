import type { ForeignTransfer } from '../adapter.ts';
import type { Node } from '../nodes/node.ts';
import { writeJson } from '../nodes/parse-json.ts';
import { type Fields, failure, toFields, toList } from '../responses.ts';
import { type Block, type ChainTransfer, transferTo, type WatchedAddress } from '../transfer.ts';
import { OtherResponse } from '../unreadable.ts';
import { CONFIRMED, type Commitment, toSlot, toText, VERSION_MAXIMUM } from './responses.ts';

/**
 * Versions that can be read. In JSON all have the same header, account keys and balances. Version 0 adds the
 * addresses of lookup tables, in `meta.loadedAddresses`; version 1 has no tables, and a `transactionConfig`
 * in its message, which moves nothing (SIMD-0385; @solana/rpc-types 8.0.0, transaction.ts). Without a version a
 * transaction is a legacy one.
 */
const VERSIONS: readonly unknown[] = [undefined, 'legacy', 0, VERSION_MAXIMUM];

/** A transaction in a block, as far as transfers go. */
export interface SolanaTransaction {
  readonly signature: string;
  readonly slot: number;
  readonly failed: boolean;
  /** Every account of it, those of lookup tables included. */
  readonly accounts: readonly string[];
  /** Accounts that neither sign nor are written; a reference of Solana Pay is among them. */
  readonly readonlyAccounts: readonly string[];
  /** Lamports before and after, in the order of the accounts. */
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
  readonly tokens: readonly TokenChange[];
}

/** The change of one token account by a transaction. */
interface TokenChange {
  readonly index: number;
  readonly mint: string;
  readonly owner: string;
  readonly before: bigint;
  readonly after: bigint;
}

/** A call of `getTransaction`. */
export function transactionCall(signature: string, commitment: Commitment = CONFIRMED) {
  const options = {
    encoding: 'json',
    ...commitment,
    maxSupportedTransactionVersion: VERSION_MAXIMUM,
  };
  return { method: 'getTransaction', params: [signature, options] };
}

/**
 * @returns null for a transaction that is in no block of the node's branch.
 * @throws NodeFailure for one that cannot be read.
 */
export function toTransaction(
  node: Node,
  response: unknown,
  signature: string,
): SolanaTransaction | null {
  if (response === null || response === undefined) return null;
  const fields = toFields(node, response, 'a transaction');
  const meta = toFields(node, fields.meta, 'the meta of a transaction');
  const { signatures, message } = toFields(node, fields.transaction, 'a transaction');
  const [first] = toList(node, signatures, 'signatures');
  if (toText(node, first, 'a signature') !== signature) {
    throw new OtherResponse(`${node.label}: another transaction came than was asked for`);
  }
  requireKnownVersion(node, fields);
  const { accountKeys, header } = toFields(node, message, 'the message of a transaction');
  const loaded = toFields(node, meta.loadedAddresses ?? {}, 'the loaded addresses');
  const texts = (list: unknown) =>
    toList(node, list ?? [], 'accounts').map(each => toText(node, each, 'an account'));
  const own = texts(accountKeys);
  const loadedReadonly = texts(loaded.readonly);
  const { numReadonlyUnsignedAccounts: count } = toFields(node, header, 'the header of a message');
  return {
    signature,
    slot: toSlot(node, fields.slot, 'the slot of a transaction'),
    accounts: [...own, ...texts(loaded.writable), ...loadedReadonly],
    readonlyAccounts: [...own.slice(own.length - Number(count ?? 0)), ...loadedReadonly],
    ...toEffect(node, meta),
  };
}

/** @throws NodeFailure */
export function requireKnownVersion(node: Node, { version }: Fields): void {
  if (!VERSIONS.includes(version)) {
    throw failure(node, `version ${writeJson(version)} of a transaction is not known`);
  }
}

/**
 * The effect of a transaction.
 * @throws NodeFailure
 */
export function toEffect(node: Node, meta: Fields) {
  // `err` is null for a transaction that succeeded.
  if (meta.err === undefined) throw failure(node, 'a transaction does not tell whether it failed');
  return {
    failed: meta.err !== null,
    before: toList(node, meta.preBalances, 'balances'),
    after: toList(node, meta.postBalances, 'balances'),
    tokens: toTokenChanges(node, meta),
  };
}

function toTokenChanges(node: Node, meta: Fields): TokenChange[] {
  const changes = new Map<number, TokenChange>();
  // An account that does not exist before or after is left out of that list: it held nothing.
  for (const [list, which] of [
    [meta.preTokenBalances, 'before'],
    [meta.postTokenBalances, 'after'],
  ] as const) {
    for (const each of toList(node, list ?? [], 'token balances')) {
      const { accountIndex, mint, owner, uiTokenAmount } = toFields(node, each, 'a token balance');
      if (owner === undefined || owner === null) continue;
      const index = toSlot(node, accountIndex, 'the account of a token balance');
      const { amount } = toFields(node, uiTokenAmount, 'a token balance');
      if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount)) {
        throw failure(node, 'a token balance is no amount');
      }
      const known = changes.get(index);
      changes.set(index, {
        index,
        mint: toText(node, mint, 'the mint of a token balance'),
        owner: toText(node, owner, 'the owner of a token balance'),
        before: known?.before ?? 0n,
        after: known?.after ?? 0n,
        [which]: BigInt(amount),
      });
    }
  }
  return [...changes.values()];
}

/**
 * Transfers of a transaction to watched owners. The amount is the change of the balance of all accounts of an owner
 * together, by any instructions. The position is the lowest index of the owner's accounts.
 */
export function transfersOf(
  node: Node,
  transaction: SolanaTransaction,
  block: Block,
  watch: readonly WatchedAddress[],
): ChainTransfer[] {
  if (transaction.failed) return [];
  return watch.flatMap(({ network, address }) => {
    const gain = gainOf(node, transaction, { network, address });
    if (gain === undefined || gain.amount <= 0n) return [];
    const { signature: transactionHash, readonlyAccounts: references } = transaction;
    const arrived = { transactionHash, position: gain.position, tokenAmount: gain.amount, block };
    return [{ ...transferTo({ network, address }, arrived), references }];
  });
}

interface Gain {
  /** The lowest index of the owner's accounts. */
  readonly position: number;
  /** In the asset's smallest unit; less than 0 where more left than arrived. */
  readonly amount: bigint;
}

/**
 * By how much a successful transaction changed an owner's balance; undefined if it names none of the owner's accounts.
 * @throws NodeFailure
 */
export function gainOf(
  node: Node,
  transaction: SolanaTransaction,
  { network, address }: WatchedAddress,
): Gain | undefined {
  return network.contract === null
    ? lamportsOf(node, transaction, address)
    : tokensOf(transaction, address, network.contract);
}

function lamportsOf(
  node: Node,
  { accounts, before, after }: SolanaTransaction,
  owner: string,
): Gain | undefined {
  const position = accounts.indexOf(owner);
  if (position === -1) return undefined;
  const [from, to] = [toLamports(node, before[position]), toLamports(node, after[position])];
  return { position, amount: to - from };
}

export function toLamports(node: Node, value: unknown): bigint {
  // Beyond 2^53 - 1 it was parsed as a bigint.
  if (typeof value === 'bigint') return value;
  if (!Number.isSafeInteger(value)) throw failure(node, 'a balance is no number');
  return BigInt(Number(value));
}

function tokensOf({ tokens }: SolanaTransaction, owner: string, mint: string): Gain | undefined {
  const own = tokens.filter(change => change.owner === owner && change.mint === mint);
  const [first] = own.toSorted((one, other) => one.index - other.index);
  if (first === undefined) return undefined;
  const amount = own.reduce((sum, { before, after }) => sum + after - before, 0n);
  return { position: first.index, amount };
}

/** Tokens of other mints, and lamports where only tokens are watched, that came to watched owners. */
export function foreignOf(
  node: Node,
  transaction: SolanaTransaction,
  watch: readonly WatchedAddress[],
): ForeignTransfer[] {
  const owners = new Set(watch.map(({ address }) => address));
  const isWatched = (owner: string, mint: string | null) =>
    watch.some(({ network, address }) => address === owner && network.contract === mint);
  const tokens = transaction.tokens.filter(
    ({ owner, mint, before, after }) =>
      owners.has(owner) && after > before && !isWatched(owner, mint),
  );
  const native = [...owners].filter(
    owner => !isWatched(owner, null) && (lamportsOf(node, transaction, owner)?.amount ?? 0n) > 0n,
  );
  return [
    ...tokens.map(({ owner, mint }) => ({ address: owner, contract: mint })),
    ...native.map(address => ({ address, contract: null })),
  ];
}
