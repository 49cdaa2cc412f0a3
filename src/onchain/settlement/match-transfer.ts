import type { DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { Parts } from '#storage/repositories/deposits/parts.ts';
import type { Holder } from '#storage/repositories/deposits/reservations.ts';
import type { CutAmount, Waiting } from '#storage/repositories/deposits/waiting-payments.ts';

/** Maximum overpayment that settles a payment, in per mille of its amount: 2 %. */
export const OVERPAYMENT_PER_MILLE = 20n;

interface Match {
  readonly outcome: DepositOutcome;
  /** The payment the transfer is for; null sends it to the inbox. */
  readonly paymentId: string | null;
  /**
   * Whether it is for a former quote of the payment: cut by a wallet from what was asked for then, or at the payment's own
   * address.
   */
  readonly isFormer?: boolean;
}

/** Minimum share of the requested amount that counts as a partial payment, in per mille: 1 %. */
const PART_PER_MILLE = 10n;

/** Shares of the requested amount that may match it, in per mille. */
export const AMOUNTS_PER_MILLE = { least: PART_PER_MILLE, most: 1000n + OVERPAYMENT_PER_MILLE };

const BASIS_POINTS = 10_000n;

/** The reservations at the transfer's address when it happened. */
interface AddressState {
  /**
   * The payment that reserved exactly this amount, if it still holds the reservation or the price is still promised.
   */
  readonly exact: Pick<Holder, 'paymentId' | 'seen' | 'isRest'> | undefined;
  /** Whether a payment that is still open asked for exactly this amount, before it got another quote. */
  readonly isSuperseded: boolean;
  /** Payments that waited for funds; two suffice, since more make no difference. */
  readonly open: readonly Waiting[];
  /** Requested amounts that a wallet may have cut to this amount, one for each payment; two suffice. */
  readonly cut: readonly CutAmount[];
  /** What has arrived at the address, if one open payment alone was ever asked to pay there. */
  readonly own?: OwnParts | undefined;
  /** Whether the transfer names a payment at the address, so that no other one counts as open. */
  readonly isNamed: boolean;
  /**
   * Whether its payment does not wait any more: exactly this amount was reserved, and released after the transfer or at
   * most `LATE_FOR_MS` before it, or the only payment that was ever asked to pay at the address has ended.
   */
  readonly isTooLate: boolean;
  /** Whether that payment is paid, or has its funds and waits for them to be final. */
  readonly isPaid: boolean;
  /**
   * Whether exactly this amount is reserved for another payment than the one that the transfer names, or has been
   * reserved since the transfer happened.
   */
  readonly isReservedElsewhere: boolean;
}

/** What has arrived for a payment at its own address. */
export interface OwnParts extends Pick<Parts, 'arrived' | 'settlesFrom' | 'whole'> {
  readonly paymentId: string;
  /** Whether the payment has another quote by now, and asks for nothing there. */
  readonly isFormer: boolean;
  /** Whether the price there holds. */
  readonly isPromised: boolean;
}

/**
 * Decides which payment a transfer pays, by amount alone: the sender may be an exchange.
 *
 * An exact amount matches its payment: the whole, or the rest after an underpayment. It never matches another
 * payment. If it seems to have been sent before the amount was reserved, a clock may be wrong, and it goes to the
 * inbox for an operator. An amount that a wallet can have cut from exactly one requested amount settles that payment,
 * if it is nearly the price.
 *
 * Any other amount matches only if a single payment is open at the address. An excess of at most 2 % settles it. So
 * does an amount that the merchant tolerates, and one that lacks at most a cent which could not be sent. The first
 * amount that is too little is recorded as an underpayment. With two open payments, an amount slightly above one may
 * be slightly below the other, so the transfer goes to the inbox, like every other one that matches nothing. Partial
 * amounts are never added up, except for the exact rest, and at an address that only one payment was ever asked to pay
 * to: there, whatever arrives while it waits is for it. If it has another quote by now, only what completes the sum
 * counts, while the price is promised; the rest goes to the inbox, for that payment.
 */
export function matchTransfer(
  tokenAmount: bigint,
  {
    exact,
    isSuperseded,
    open,
    cut,
    own,
    isNamed,
    isTooLate,
    isPaid,
    isReservedElsewhere,
  }: AddressState,
): Match {
  if (exact !== undefined) {
    const { paymentId, seen, isRest } = exact;
    return seen ? inbox('duplicate') : { outcome: isRest ? 'rest' : 'exact', paymentId };
  }
  if (own !== undefined) {
    const match = matchPart(tokenAmount, own);
    const pays = !own.isFormer || (own.isPromised && match.outcome !== 'under');
    return pays ? match : inbox('superseded');
  }
  const [single, second] = open;
  if (isSuperseded) return inbox('superseded');
  if (isTooLate) return inbox(isPaid ? 'duplicate' : 'late');
  const isOthers = isReservedElsewhere && (single !== undefined || isNamed);
  if (isOthers || cut.length > 1) return inbox('ambiguous');
  const settled = cut[0] === undefined ? undefined : settleCut(tokenAmount, cut[0]);
  if (settled !== undefined) return settled;
  if (second !== undefined) return inbox('ambiguous');
  if (single === undefined) return inbox('unknown');
  const { paymentId, rest } = single;
  if (rest !== null && isEnoughAlone(tokenAmount, rest)) return { outcome: 'rest', paymentId };
  if (isTooLittle(tokenAmount, single.tokenAmount)) return inbox('unknown');
  if (tokenAmount > single.tokenAmount) {
    return isSmallExcess(tokenAmount, single.tokenAmount)
      ? { outcome: 'over', paymentId }
      : inbox('over');
  }
  if (isTolerated(tokenAmount, single) || isEnoughAlone(tokenAmount, single)) {
    return { outcome: 'tolerated', paymentId };
  }
  return single.underpaid ? inbox('under') : { outcome: 'under', paymentId };
}

/** The match of any amount at a payment's own address, by what it is with all that arrived before. */
function matchPart(
  sent: bigint,
  { paymentId, arrived, settlesFrom, whole, isFormer }: OwnParts,
): Match {
  const settling =
    arrived > 0n ? 'rest' : sent === whole ? 'exact' : sent > whole ? 'over' : 'tolerated';
  return { outcome: arrived + sent < settlesFrom ? 'under' : settling, paymentId, isFormer };
}

/** The match of an amount that a wallet has cut. A wallet that rounds up sends more than it was asked for. */
function settleCut(
  sent: bigint,
  { paymentId, tokenAmount, cutFrom, isRest, isFormer }: CutAmount,
): Match | undefined {
  const isEnough =
    sent > tokenAmount ? isSmallExcess(sent, tokenAmount) : sent >= (cutFrom ?? tokenAmount);
  if (!isEnough) return undefined;
  const outcome = isRest ? 'rest' : sent > tokenAmount ? 'over' : 'tolerated';
  return { outcome, paymentId, isFormer };
}

/** Whether so little is missing that it could not be sent, and is not worth asking for. */
function isEnoughAlone(
  received: bigint,
  { tokenAmount, aloneFrom }: Pick<Waiting, 'tokenAmount' | 'aloneFrom'>,
): boolean {
  return aloneFrom !== null && received >= aloneFrom && received < tokenAmount;
}

function isTolerated(received: bigint, { tokenAmount, toleranceBps }: Waiting): boolean {
  return (tokenAmount - received) * BASIS_POINTS <= tokenAmount * BigInt(toleranceBps);
}

function isSmallExcess(received: bigint, requested: bigint): boolean {
  return (received - requested) * 1000n <= requested * OVERPAYMENT_PER_MILLE;
}

/** An amount far below the requested one must not mark the payment as underpaid, even if it is worth something. */
function isTooLittle(received: bigint, requested: bigint): boolean {
  return received * 1000n < requested * PART_PER_MILLE;
}

function inbox(outcome: DepositOutcome): Match {
  return { outcome, paymentId: null };
}
