import type { Deposit, DepositOutcome } from '../database/deposit-tables.ts';
import type { Simulation } from './simulate.ts';

/** Why a transfer is in the inbox. */
const INBOX_REASONS: Readonly<Partial<Record<DepositOutcome, string>>> = {
  ambiguous:
    'several payments are open at the address, so that its amount does not tell which one it is for',
  duplicate: 'the payment has this amount already',
  late: 'the payment that asked for this amount has ended',
  over: 'it is far more than the payment asks for',
  under: 'it is neither the whole amount nor the rest that its payment waits for',
  unknown: 'no payment asks for this amount',
};

/** A sentence for each transfer that has arrived and that no payment took. */
export function describeUntaken(deposits: readonly Deposit[]): string[] {
  return deposits.flatMap(({ id, payment_id, state, outcome }) =>
    payment_id === null && (state === 'seen' || state === 'final')
      ? [`A transfer went to the inbox as ${outcome} (${id}): ${INBOX_REASONS[outcome]}.`]
      : [],
  );
}

/** Why a simulated payment still waits although a transfer has arrived; null if there is no such reason. */
export function whyItWaits({ payment, deposits }: Simulation): string | null {
  const untaken = describeUntaken(deposits);
  if (payment.status !== 'pending' || untaken.length === 0) return null;
  return ['The payment is still pending.', ...untaken].join(' ');
}
