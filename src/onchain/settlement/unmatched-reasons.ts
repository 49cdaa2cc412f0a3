import type { Deposit, DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { Simulation } from './simulate.ts';

interface Reason {
  /** A word or two. */
  readonly short: string;
  /** A sentence without its capital and its period. */
  readonly text: string;
}

/** Why no payment took a transfer, so that it is in the inbox. */
export const UNMATCHED_REASONS: Readonly<Partial<Record<DepositOutcome, Reason>>> = {
  ambiguous: {
    short: 'ambiguous',
    text: 'several payments wait at the address, and its amount and time do not tell which one it is for',
  },
  duplicate: { short: 'duplicate', text: 'its payment has this amount already' },
  late: { short: 'too late', text: 'the payment that asked for this amount had ended' },
  over: { short: 'far too much', text: 'it is far more than its payment asks for' },
  superseded: {
    short: 'former quote',
    text: 'its payment asked for this amount before it got another quote, and the price was not promised any more',
  },
  under: {
    short: 'too little',
    text: 'it is neither the whole amount nor the rest that its payment waits for',
  },
  unknown: { short: 'unknown amount', text: 'no payment asked for this amount' },
};

/** A sentence for each transfer that has arrived and that no payment took. */
export function describeUnmatched(deposits: readonly Deposit[]): string[] {
  return deposits
    .filter(
      ({ payment_id, state }) => payment_id === null && (state === 'seen' || state === 'final'),
    )
    .map(({ id, outcome }) => {
      const reason = UNMATCHED_REASONS[outcome]?.text ?? outcome;
      return `A transfer went to the inbox as ${outcome} (${id}): ${reason}.`;
    });
}

/** Why a simulated payment still waits although a transfer has arrived; null if there is no such reason. */
export function whyItWaits({ payment, deposits }: Simulation): string | null {
  const untaken = describeUnmatched(deposits);
  if (payment.status !== 'pending' || untaken.length === 0) return null;
  return ['The payment is still pending.', ...untaken].join(' ');
}
