import type { DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';

/** Why no payment took a deposit: a word or two, and a sentence without its capital and its period. */
export function reasonOf(
  { unmatched }: PanelTexts,
  outcome: DepositOutcome,
): { readonly short: string; readonly text: string } {
  const reasons: Readonly<Partial<Record<DepositOutcome, ReturnType<typeof reasonOf>>>> =
    unmatched.reasons;
  return reasons[outcome] ?? { short: outcome, text: outcome };
}
