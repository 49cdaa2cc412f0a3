import { eachAlone, refusedAlone } from '../missing-items.ts';
import { LaggingNode, type Node, type NodeFailure, RpcError } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { failure, toFields, toList } from '../responses.ts';
import { readEach, readOrFailure } from '../unreadable.ts';
import { type Commitment, isLagging, isUnsupported, orThrow, toSlot, toText } from './responses.ts';
import { type SolanaTransaction, toTransaction, transactionCall } from './transfers.ts';

/** `isPart` of `readEach`: transactions come in separate responses or blocks, so no list is wrong as a whole. */
export const IN_RESPONSES_OF_THEIR_OWN = true;

/** Maximum length of one list of signatures. */
const PAGE = 1_000;
/** Lists of signatures, or transactions, per batch. */
export const TOGETHER = 25;

/** A transaction without an error, from lists of signatures. */
export interface ListedSignature {
  readonly signature: string;
  readonly slot: number;
  /** The accounts whose lists contain it. */
  readonly accounts: Set<string>;
}

/** The entries of several lists of signatures. */
export interface Listed {
  /** By signature. */
  readonly signatures: Map<string, ListedSignature>;
  /** Accounts with further signatures, in slots above the listed ones. */
  readonly newer: Set<string>;
  /** Accounts whose lists the node refuses. */
  readonly refused: Map<string, LaggingNode>;
  /** Entries that cannot be read: the account whose list it is, and what is wrong. */
  readonly unreadable: { readonly account: string; readonly detail: string }[];
}

/** A range of slots, both ends included, at a commitment of the node. */
interface ListedSlots {
  readonly from: number;
  readonly to: number;
  readonly commitment: Commitment;
}

/**
 * Lists signatures of transactions without an error that concern these accounts. The node must have reached
 * `slots.to`.
 * @throws NodeFailure, also for a full list whose end cannot be read; RpcError if it refuses all of several lists.
 */
export async function listSignatures(
  node: Node,
  accounts: readonly string[],
  slots: ListedSlots,
  listed: Listed,
): Promise<void> {
  let waiting: { account: string; before?: string }[] = accounts.map(account => ({ account }));
  while (waiting.length > 0) {
    const together = waiting.slice(0, TOGETHER);
    const responses = await node.batch(
      together.map(({ account, before }) => ({
        method: 'getSignaturesForAddress',
        params: [
          account,
          {
            ...slots.commitment,
            limit: PAGE,
            minContextSlot: slots.to,
            ...(before === undefined ? {} : { before }),
          },
        ],
      })),
    );
    const more: typeof waiting = [];
    for (const response of responses) if (isLagging(response)) orThrow(node, response);
    const alone = eachAlone(node, responses);
    for (const [index, { account }] of together.entries()) {
      const response = alone[index];
      if (response instanceof LaggingNode) {
        listed.refused.set(account, response);
        continue;
      }
      const last = takePage(node, response, account, slots, listed);
      if (last !== undefined) more.push({ account, before: last });
    }
    waiting = [...waiting.slice(TOGETHER), ...more];
  }
}

/** @returns The last signature of a full page that does not go back far enough yet. */
function takePage(
  node: Node,
  response: unknown,
  account: string,
  { from, to }: ListedSlots,
  { signatures, newer, unreadable }: Listed,
): string | undefined {
  const page = toList(node, response, 'signatures');
  const read = readEach(
    page,
    each => {
      const fields = toFields(node, each, 'a signature');
      return [
        {
          signature: toText(node, fields.signature, 'a signature'),
          slot: toSlot(node, fields.slot, 'the slot of a signature'),
          // If `err` is missing, the transaction itself shows whether it failed.
          failed: fields.err !== null && fields.err !== undefined,
        },
      ];
    },
    (_, detail) => unreadable.push({ account, detail }),
  );
  for (const { signature, slot, failed } of read) {
    if (slot > to && !failed) newer.add(account);
    if (slot < from || slot > to || failed) continue;
    const known = signatures.get(signature) ?? { signature, slot, accounts: new Set() };
    known.accounts.add(account);
    signatures.set(signature, known);
  }
  const last = read.at(-1);
  return page.length === PAGE && last !== undefined && last.slot >= from
    ? last.signature
    : undefined;
}

/** Transactions that were read, and what is wrong with the others. */
export interface ReadTransactions {
  readonly transactions: readonly SolanaTransaction[];
  /** By signature. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Transactions that the node has listed but does not have, by signature. */
  readonly missing: ReadonlyMap<string, LaggingNode>;
}

/**
 * The transactions of these signatures.
 * @throws NodeFailure
 */
export async function readTransactions(
  node: Node,
  signatures: readonly string[],
): Promise<ReadTransactions> {
  const transactions: SolanaTransaction[] = [];
  const unreadable = new Map<string, string>();
  const missing = new Map<string, LaggingNode>();
  for (const together of inParts(signatures, TOGETHER)) {
    const responses = await node.batch(together.map(each => transactionCall(each)));
    const listed = together.map((signature, index) => ({ signature, response: responses[index] }));
    for (const { signature, response } of listed) {
      if (isUnsupported(response)) {
        unreadable.set(signature, response.message);
        continue;
      }
      if (response instanceof RpcError) missing.set(signature, refusedAlone(node, response));
      if (response === null || response === undefined) {
        const message = `${node.label} has no transaction ${signature}, which it has listed`;
        missing.set(signature, new LaggingNode(message));
      }
    }
    transactions.push(
      ...readEach(
        listed.filter(({ signature }) => !missing.has(signature) && !unreadable.has(signature)),
        ({ signature, response }) =>
          [toTransaction(node, response, signature)].filter(each => each !== null),
        ({ signature }, detail) => unreadable.set(signature, detail),
        IN_RESPONSES_OF_THEIR_OWN,
      ),
    );
  }
  return { transactions, unreadable, missing };
}

/** One transaction: null if it is in no block of the node's branch, the failure if it cannot be read. */
export function toTransactionOrFailure(
  node: Node,
  response: unknown,
  signature: string,
): SolanaTransaction | NodeFailure | null {
  if (isUnsupported(response)) return failure(node, `${response.message}`);
  const transaction = orThrow(node, response);
  return readOrFailure(() => toTransaction(node, transaction, signature));
}
