import type { RecordedNode } from '../nodes/record-answers.ts';
import { keepAnswers } from '../repositories/evidence.ts';
import type { Placed } from './look-up-deposits.ts';
import type { Watcher } from './watcher.ts';

/**
 * Largest answers that are kept of a deposit, in characters. The receipt of a payout to fifty has 30,000, and
 * to keep it with each of the fifty took a third of the time of settling them.
 */
const ANSWERS_MAXIMUM = 16 * 1024;

/**
 * Keeps what the node answered about deposits that become final, for evidence of their payments. It comes
 * before they do: a worker that is killed in between keeps it again.
 * @throws LeaseLost.
 */
export async function keepEvidence(
  { clock, lease }: Watcher,
  { node, answersOn }: RecordedNode,
  final: readonly Placed[],
): Promise<void> {
  if (final.length === 0) return;
  const recordedAt = new Date(clock());
  const rows = final.map(({ deposit, report }) => {
    const block = report.status === 'included' ? [report.block.hash] : [];
    const answers = answersOn(deposit.transaction_hash, ...block);
    return {
      deposit_id: deposit.id,
      node: node.label,
      answers: toText(answers.map(({ method, result }) => ({ method, result }))),
      recorded_at: recordedAt,
    };
  });
  await lease.writeBeside(tx => keepAnswers(tx, rows));
}

function toText(answers: readonly { readonly method: string; readonly result: unknown }[]): string {
  const text = JSON.stringify(answers);
  if (text.length <= ANSWERS_MAXIMUM) return text;
  return JSON.stringify(
    answers.map(({ method, result }) => ({
      method,
      omitted: `${JSON.stringify(result ?? null).length} characters`,
    })),
  );
}
