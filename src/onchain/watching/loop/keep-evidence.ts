import { writeJson } from '#chains/nodes/parse-json.ts';
import type { RecordedNode } from '#chains/nodes/record-responses.ts';
import { keepResponses } from '#storage/repositories/deposits/evidence.ts';
import type { Watcher } from '../watcher.ts';
import type { LookedUp } from './look-up-deposits.ts';

/**
 * Maximum length of the responses that are kept for a transaction, in characters: receipts of large payouts are left
 * out.
 */
const RESPONSES_MAXIMUM = 64 * 1024;

/**
 * Keeps the node's responses about deposits that become final, as evidence for their payments. It runs before they
 * become final: after a crash in between it is repeated.
 * @throws LeaseLost.
 */
export async function keepEvidence(
  { clock, lease }: Watcher,
  { node, responsesTo }: RecordedNode,
  final: readonly LookedUp[],
): Promise<void> {
  if (final.length === 0) return;
  const recordedAt = new Date(clock());
  const transactions = new Map(
    final.map(found => [`${found.deposit.blockchain_id} ${found.deposit.transaction_hash}`, found]),
  );
  const rows = [...transactions.values()].map(({ deposit, report }) => {
    const { blockchain_id, transaction_hash } = deposit;
    const block = report.status === 'included' ? [report.block.hash] : [];
    const responses = responsesTo(transaction_hash, ...block);
    return {
      blockchain_id,
      transaction_hash,
      node: node.label,
      answers: toText(responses.map(({ method, result }) => ({ method, result }))),
      recorded_at: recordedAt,
    };
  });
  await lease.writeBeside(tx => keepResponses(tx, rows));
}

function toText(
  responses: readonly { readonly method: string; readonly result: unknown }[],
): string {
  const text = writeJson(responses);
  if (text.length <= RESPONSES_MAXIMUM) return text;
  return JSON.stringify(
    responses.map(({ method, result }) => ({
      method,
      omitted: `${writeJson(result ?? null).length} characters`,
    })),
  );
}
