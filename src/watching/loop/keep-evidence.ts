import { writeJson } from '../../nodes/parse-json.ts';
import type { RecordedNode } from '../../nodes/record-responses.ts';
import { keepResponses } from '../../repositories/deposits/evidence.ts';
import type { Watcher } from '../watcher.ts';
import type { Placed } from './look-up-deposits.ts';

/** Largest responses that are kept of a transaction, in characters: a payout to hundreds has large receipts. */
const RESPONSES_MAXIMUM = 64 * 1024;

/**
 * Keeps what the node answered about deposits that become final, for evidence of their payments. It comes
 * before they do: a worker that is killed in between keeps it again.
 * @throws LeaseLost.
 */
export async function keepEvidence(
  { clock, lease }: Watcher,
  { node, responsesTo }: RecordedNode,
  final: readonly Placed[],
): Promise<void> {
  if (final.length === 0) return;
  const recordedAt = new Date(clock());
  const transactions = new Map(
    final.map(placed => [
      `${placed.deposit.blockchain_id} ${placed.deposit.transaction_hash}`,
      placed,
    ]),
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
