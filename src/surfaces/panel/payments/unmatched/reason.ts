import type { UnmatchedReasons } from '#onchain/settlement/unmatched-reasons.ts';
import type { Deposit, DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { PanelTexts } from '../../texts/index.ts';

/** Why no payment took a deposit: a word or two, and the text of a sentence. */
export function reasonOf({ unmatched }: PanelTexts, outcome: DepositOutcome) {
  const reasons: UnmatchedReasons = unmatched.reasons;
  return reasons[outcome] ?? { short: outcome, text: outcome };
}

/** Why a payment still waits after simulated transfers that it did not take. */
export function wordUntaken(words: PanelTexts, untaken: readonly Deposit[]): string {
  const { stillPending, inInbox } = words.payments.simulation;
  const sentences = untaken.map(({ id, outcome }) => {
    const { short, text } = reasonOf(words, outcome);
    return inInbox(id, short, text);
  });
  return [stillPending, ...sentences].join(' ');
}
