import { BLOCK_TIMEOUT_MS, type Node, NodeFailure, RpcError } from '../nodes/node.ts';
import { failure, toFields, toList } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import { blockCall, toSlotBlock, toText } from './responses.ts';
import { requireKnownVersion, type SolanaTransaction, toEffect } from './transfers.ts';

/** A block, with the requested transactions as far as they can be read. */
export interface WholeBlock {
  readonly block: Block;
  readonly transactions: readonly SolanaTransaction[];
}

/**
 * Reads transactions of one slot from its block, by a single call.
 * @returns undefined if the node does not return the block: then the transactions have to be read one by one.
 * @throws NodeFailure
 */
export async function readWholeBlock(
  node: Node,
  slot: number,
  signatures: ReadonlySet<string>,
): Promise<WholeBlock | undefined> {
  const { method, params } = blockCall(slot, 'accounts');
  const options = { timeoutMs: BLOCK_TIMEOUT_MS, mayBeTooLarge: true };
  const response = await node.call(method, params, options).catch(asRefusal);
  const block = readOrFailure(() => toSlotBlock(node, response, slot));
  if (block === null || typeof block === 'string' || block instanceof NodeFailure) return undefined;
  const { transactions } = toFields(node, response, 'a block');
  if (!Array.isArray(transactions)) return undefined;
  const own = transactions.flatMap(element => {
    // A transaction that cannot be read is left out, and then read by itself.
    const signature = readOrFailure(() => signatureOf(node, element));
    if (signature instanceof NodeFailure || !signatures.has(signature)) return [];
    const transaction = readOrFailure(() => toTransaction(node, element, signature, slot));
    return transaction instanceof NodeFailure ? [] : [transaction];
  });
  return { block, transactions: own };
}

/** The block is too large, not there yet, or has a transaction of an unsupported version. */
function asRefusal(error: unknown): null {
  if (error instanceof RpcError) return null;
  throw error;
}

function signatureOf(node: Node, element: unknown): string {
  const { transaction } = toFields(node, element, 'a transaction');
  const { signatures } = toFields(node, transaction, 'a transaction');
  return toText(node, toList(node, signatures, 'signatures')[0], 'a signature');
}

/** With `accounts`, accounts of lookup tables are among the others, in the same order (Agave, parse_accounts.rs). */
function toTransaction(
  node: Node,
  element: unknown,
  signature: string,
  slot: number,
): SolanaTransaction {
  const fields = toFields(node, element, 'a transaction');
  requireKnownVersion(node, fields);
  const { accountKeys } = toFields(node, fields.transaction, 'a transaction');
  const accounts = toList(node, accountKeys, 'accounts').map(each => {
    const { pubkey, signer, writable } = toFields(node, each, 'an account');
    if (typeof signer !== 'boolean' || typeof writable !== 'boolean') {
      throw failure(node, 'an account does not tell what it is for');
    }
    return { address: toText(node, pubkey, 'an account'), isReadonly: !signer && !writable };
  });
  return {
    signature,
    slot,
    accounts: accounts.map(({ address }) => address),
    readonlyAccounts: accounts.filter(each => each.isReadonly).map(({ address }) => address),
    ...toEffect(node, toFields(node, fields.meta, 'the meta of a transaction')),
  };
}
