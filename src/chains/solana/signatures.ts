import { type Node, NodeFailure, RpcError } from '../../nodes/node.ts';
import { toFields, toList } from '../answers.ts';
import { CONFIRMED, toSlot, toText } from './answers.ts';
import { type SolanaTransaction, toTransaction, transactionCall } from './transfers.ts';

/** Signatures of one list, which has no more. */
const PAGE = 1_000;
/** Lists, and transactions, that are asked for in one batch. */
const TOGETHER = 25;

/**
 * Signatures of transactions without an error that concern these accounts, in the slots from `from` to `to`,
 * both included. The node must have come as far.
 */
export async function listSignatures(
  node: Node,
  accounts: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Set<string>> {
  const found = new Set<string>();
  let waiting: { account: string; before?: string }[] = accounts.map(account => ({ account }));
  while (waiting.length > 0) {
    const together = waiting.slice(0, TOGETHER);
    const answers = await node.batch(
      together.map(({ account, before }) => ({
        method: 'getSignaturesForAddress',
        params: [
          account,
          {
            ...CONFIRMED,
            limit: PAGE,
            minContextSlot: to,
            ...(before === undefined ? {} : { before }),
          },
        ],
      })),
    );
    const more: typeof waiting = [];
    for (const [index, { account }] of together.entries()) {
      const last = takePage(node, answers[index], { from, to }, found);
      if (last !== undefined) more.push({ account, before: last });
    }
    waiting = [...waiting.slice(TOGETHER), ...more];
  }
  return found;
}

/** @returns The last signature of a full page that does not go back far enough yet. */
function takePage(
  node: Node,
  answer: unknown,
  { from, to }: { readonly from: number; readonly to: number },
  found: Set<string>,
): string | undefined {
  if (answer instanceof RpcError) throw answer;
  const list = toList(node, answer, 'signatures').map(each => {
    const fields = toFields(node, each, 'a signature');
    return {
      signature: toText(node, fields.signature, 'a signature'),
      slot: toSlot(node, fields.slot, 'the slot of a signature'),
      failed: fields.err !== null,
    };
  });
  for (const { signature, slot, failed } of list) {
    if (slot >= from && slot <= to && !failed) found.add(signature);
  }
  const last = list.at(-1);
  return list.length === PAGE && last !== undefined && last.slot >= from
    ? last.signature
    : undefined;
}

/**
 * The transactions of these signatures.
 * @throws NodeFailure for one that the node has listed and does not have.
 */
export async function readTransactions(
  node: Node,
  signatures: readonly string[],
): Promise<SolanaTransaction[]> {
  const transactions: SolanaTransaction[] = [];
  for (let next = 0; next < signatures.length; next += TOGETHER) {
    const together = signatures.slice(next, next + TOGETHER);
    const answers = await node.batch(together.map(transactionCall));
    for (const [index, signature] of together.entries()) {
      const answer = answers[index];
      if (answer instanceof RpcError) throw answer;
      const transaction = toTransaction(node, answer, signature);
      if (transaction === null) {
        throw new NodeFailure(`${node.label} has no transaction ${signature}, which it has listed`);
      }
      transactions.push(transaction);
    }
  }
  return transactions;
}
