import type { Deposit, DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { Simulation } from './simulate.ts';

interface Reason {
  /** A word or two. */
  readonly short: string;
  /** A sentence without its capital and its period. */
  readonly text: string;
}

/** Reasons in some language; an outcome that does not lead to the inbox has none. */
type UnmatchedReasons = Readonly<Partial<Record<DepositOutcome, Reason>>>;

/** Why no payment took a transfer, so that it is in the inbox, in English. */
export const UNMATCHED_REASONS = {
  ambiguous: {
    short: 'ambiguous',
    text: 'several payments wait at the address, and its amount and time do not tell which one it is for',
  },
  duplicate: { short: 'duplicate', text: 'its payment has its funds already' },
  late: { short: 'too late', text: 'its payment had ended' },
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
} as const satisfies UnmatchedReasons;

/** A sentence in English for each transfer that has arrived and that no payment took. */
export function describeUnmatched(deposits: readonly Deposit[]): string[] {
  const reasons: UnmatchedReasons = UNMATCHED_REASONS;
  return listUnmatched(deposits).map(({ id, outcome }) => {
    const reason = reasons[outcome]?.text ?? outcome;
    return `A transfer went to the inbox as ${outcome} (${id}): ${reason}.`;
  });
}

/** The simulated transfers that have arrived and that a payment did not take although it still waits. */
export function listUntaken({ payment, deposits }: Simulation): Deposit[] {
  return payment.status === 'pending' ? listUnmatched(deposits) : [];
}

/** Why a simulated payment still waits, in English; null if no transfer has arrived that it did not take. */
export function whyItWaits(simulation: Simulation): string | null {
  const untaken = describeUnmatched(listUntaken(simulation));
  return untaken.length === 0 ? null : ['The payment is still pending.', ...untaken].join(' ');
}

function listUnmatched(deposits: readonly Deposit[]): Deposit[] {
  return deposits.filter(
    ({ payment_id, state }) => payment_id === null && (state === 'seen' || state === 'final'),
  );
}
