import type { DepositOutcome } from '../database/tables.ts';
import type { Candidate } from '../repositories/reservations.ts';

/** Overpayment that still settles a payment, in per mille of its amount: 2 %. */
export const OVERPAYMENT_PER_MILLE = 20n;

export interface Match {
  readonly outcome: DepositOutcome;
  /** The payment the transfer is for; null sends it to the inbox. */
  readonly paymentId: string | null;
}

/** Less than this share of the amount asked for, in per mille, is nobody's payment: 1 %. */
export const DUST_PER_MILLE = 10n;

/** What stands at the transfer's address. */
export interface Standing {
  /** The live reservation of exactly this amount. */
  readonly exact: Candidate | undefined;
  /** Live reservations without funds yet; two are enough to know that there are several. */
  readonly open: readonly Candidate[];
  /** Whether exactly this amount was reserved by a payment that has ended. */
  readonly reservedBefore: boolean;
}

/**
 * Decides which payment a transfer is meant for. Only amounts count, never the sender, who may be an
 * exchange.
 *
 * An exact amount wins. Any other amount is a payment's only where a single one is open at the
 * address: at most 2 % too much settles it, too little is noted. With two open, what is a little
 * above one may be a little below the other, so it is left to a person, like whatever none can claim.
 * Parts are never added up.
 */
export function matchTransfer(
  tokenAmount: bigint,
  { exact, open, reservedBefore }: Standing,
): Match {
  if (exact !== undefined) {
    return exact.seen ? inbox('duplicate') : { outcome: 'exact', paymentId: exact.paymentId };
  }
  if (reservedBefore) return inbox('late');
  const [single, second] = open;
  if (second !== undefined) return inbox('ambiguous');
  if (single === undefined || isDust(tokenAmount, single.tokenAmount)) return inbox('unknown');
  if (tokenAmount < single.tokenAmount) return { outcome: 'under', paymentId: single.paymentId };
  return isSmallExcess(tokenAmount, single.tokenAmount)
    ? { outcome: 'over', paymentId: single.paymentId }
    : inbox('over');
}

function isSmallExcess(received: bigint, asked: bigint): boolean {
  return (received - asked) * 1000n <= asked * OVERPAYMENT_PER_MILLE;
}

/** Spam of worthless amounts is daily business on some chains; it must not mark a payment. */
function isDust(received: bigint, asked: bigint): boolean {
  return received * 1000n < asked * DUST_PER_MILLE;
}

function inbox(outcome: DepositOutcome): Match {
  return { outcome, paymentId: null };
}
