import type { DepositOutcome } from '../database/tables.ts';
import type { Candidate } from '../repositories/reservations.ts';

/** Overpayment that still settles a payment, in per mille of its amount: 2 %. */
export const OVERPAYMENT_PER_MILLE = 20n;

export interface Match {
  readonly outcome: DepositOutcome;
  /** The payment the transfer is for; null sends it to the inbox. */
  readonly paymentId: string | null;
}

/**
 * Decides which payment a transfer is meant for. Only amounts count, never the sender, who may be an
 * exchange.
 *
 * An exact amount wins. Else an overpayment of at most 2 % goes to the one open payment it fits,
 * and too little to the one open payment there is. Whatever more than one payment could claim, or
 * none can, is left to a person. Parts are never added up.
 *
 * @param candidates Live reservations of the transfer's address.
 * @param reservedBefore Whether exactly this amount was reserved by a payment that has ended.
 */
export function matchTransfer(
  tokenAmount: bigint,
  candidates: readonly Candidate[],
  reservedBefore: boolean,
): Match {
  const exact = candidates.find(candidate => candidate.tokenAmount === tokenAmount);
  if (exact !== undefined) {
    return exact.seen ? inbox('duplicate') : { outcome: 'exact', paymentId: exact.paymentId };
  }
  if (reservedBefore) return inbox('late');

  const open = candidates.filter(candidate => !candidate.seen);
  const overpaid = open.filter(candidate => isOverpaid(tokenAmount, candidate.tokenAmount));
  const [only] = overpaid;
  if (overpaid.length > 1) return inbox('ambiguous');
  if (only !== undefined) return { outcome: 'over', paymentId: only.paymentId };

  const [single] = open;
  if (open.length > 1) return inbox('ambiguous');
  if (single === undefined) return inbox('unknown');
  if (tokenAmount > single.tokenAmount) return inbox('over');
  return { outcome: 'under', paymentId: single.paymentId };
}

function isOverpaid(received: bigint, asked: bigint): boolean {
  return received > asked && (received - asked) * 1000n <= asked * OVERPAYMENT_PER_MILLE;
}

function inbox(outcome: DepositOutcome): Match {
  return { outcome, paymentId: null };
}
