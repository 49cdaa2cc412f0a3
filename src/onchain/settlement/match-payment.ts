import { solanaReference } from '#chains/solana-reference.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { findOnlyAsked, findParts } from '#storage/repositories/deposits/parts.ts';
import {
  findReservations,
  type Holder,
  lockHolders,
  type PaymentInWait,
  type ReservationsOfSlot,
  type Slot,
} from '#storage/repositories/deposits/reservations.ts';
import {
  type CutAmount,
  listCut,
  listHolders,
  listWaiting,
  type WaitedAt,
} from '#storage/repositories/deposits/waiting-payments.ts';
import { lockPayment } from '#storage/repositories/payments/moves.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { uncut } from './cut-amounts.ts';
import { matchTransfer, type OwnParts } from './match-transfer.ts';

/** The latest and the earliest time at which a transfer may have happened. */
export interface TimeOfTransfer {
  readonly occurredAt: Date;
  readonly earliestAt: Date;
}

/** Which payment a deposit belongs to, and why. */
export type DepositMatch = Pick<Deposit, 'outcome' | 'payment_id'>;

/** Waiting payments to read: two are enough to make a match ambiguous. */
const WAITING_MAXIMUM = 2;

/**
 * How long after a payment's end a transfer is still in time, in milliseconds: the longest time between two polls
 * of a watcher. A later transfer finds the payment open only because its watcher was behind.
 */
const OVERDUE_BY_MS = 60_000;

/** Maximum number of payments at an address that are searched for a reference. */
const NAMED_MAXIMUM = 1_000;

/**
 * Matches a transfer to the payment that waited for it when it happened, and locks the payment's row. The payment is
 * checked again under the lock: after its reservation was read it may have ended or moved to another network.
 * Customers choose networks without locking the address. If an amount is reserved or released between the reads, the
 * match starts again.
 * @param references Accounts that may be the reference of a payment. If one of them names a payment, the transfer can
 * only be for that payment, even if it has its funds already. The amount is still judged like that of any transfer,
 * and does not match if another payment asks for exactly that amount.
 */
export async function matchPayment(
  db: Connection,
  slot: Slot,
  { occurredAt: at, earliestAt }: TimeOfTransfer,
  references: readonly string[] = [],
): Promise<DepositMatch> {
  const [holder] = await lockHolders(db, [{ ...slot, occurredAt: at }]);
  const when = { at, endedBy: new Date(earliestAt.getTime() - OVERDUE_BY_MS) };
  const named = await findNamed(db, slot, at, references);
  const isHolders = named === undefined || named === holder?.paymentId;
  const isHeld = holder?.releasedAt === null;
  const isPromised = holder !== undefined && !isHeld && mayStillPay(holder, earliestAt);
  const exact = (isHeld || isPromised) && isHolders ? holder : undefined;
  // A payment that holds the reservation of the amount gets it, even if others wait.
  const open = exact === undefined ? await listWaiting(db, slot, when, WAITING_MAXIMUM, named) : [];
  const [single, second] = open;
  const { own, ended } =
    exact === undefined && second === undefined
      ? await findOwn(db, slot, { occurredAt: at, earliestAt }, single !== undefined)
      : {};
  const cut = exact === undefined ? await findCut(db, slot, when, named) : [];
  // A payment may have ended between the two reads. Start again, so that neither list has it.
  const wereSeveral = open.length > 1;
  if (wereSeveral && (await listWaiting(db, slot, when, WAITING_MAXIMUM, named)).length <= 1) {
    return matchPayment(db, slot, { occurredAt: at, earliestAt }, references);
  }
  // A match at a promised price holds even if the reservations have changed since.
  const isCertain = exact !== undefined && (exact.seen || mayStillPay(exact, earliestAt));
  const now = isCertain ? undefined : await findReservations(db, slot, at);
  if (now !== undefined && hasChanged(holder, now)) {
    return matchPayment(db, slot, { occurredAt: at, earliestAt }, references);
  }
  const { outcome, paymentId, isFormer } = matchTransfer(slot.tokenAmount, {
    exact,
    open,
    cut,
    own,
    isNamed: named !== undefined,
    isSuperseded:
      exact === undefined && !isHeld && isHolders && isOpen(holder?.payment, earliestAt),
    isTooLate:
      ended !== undefined ||
      (holder?.releasedAt != null &&
        holder.releasedAt.getTime() > earliestAt.getTime() - LATE_FOR_MS),
    // The funds may have been for another of its quotes.
    isPaid: hasFunds(ended ?? holder?.payment),
    isReservedElsewhere: exact === undefined && (isHeld || now?.isReservedSince === true),
  });
  if (paymentId === null) return { outcome, payment_id: null };
  // Its customer may have chosen another network since the reservation was read.
  if (isCertain) return { outcome, payment_id: paymentId };
  const payment =
    paymentId === holder?.paymentId ? holder.payment : await lockPayment(db, paymentId);
  if (payment !== undefined && isFormer === true && isOpen(payment, earliestAt)) {
    return { outcome, payment_id: paymentId };
  }
  if (payment !== undefined && isWaiting(payment, slot, earliestAt)) {
    return { outcome, payment_id: paymentId };
  }
  return { outcome: isOpen(payment, earliestAt) ? 'superseded' : 'late', payment_id: null };
}

/** Whether an amount has been reserved or given up since its holder was read. */
function hasChanged(holder: Holder | undefined, { latestId, heldBy }: ReservationsOfSlot): boolean {
  if (holder === undefined) return latestId !== null;
  return (
    latestId !== holder.reservationId ||
    (heldBy === holder.paymentId) !== (holder.releasedAt === null)
  );
}

/**
 * What has arrived at an address that one payment alone was ever asked to pay to, if it waited there, or is open under
 * another quote; the payment, if it has ended or has its funds. Locks the payment.
 * @param hasWaited Whether a payment waited there when the transfer happened.
 */
async function findOwn(
  db: Connection,
  slot: Slot,
  { occurredAt, earliestAt }: TimeOfTransfer,
  hasWaited: boolean,
): Promise<{ readonly own?: OwnParts; readonly ended?: PaymentInWait }> {
  const asked = await findOnlyAsked(db, slot, occurredAt);
  if (asked === undefined) return {};
  const { paymentId, promisedUntil } = asked;
  const payment = await lockPayment(db, paymentId);
  const isFormer = isOpen(payment, earliestAt) && !isAt(payment, slot);
  const parts = await findParts(db, paymentId, slot);
  if (payment === undefined || parts === undefined) return {};
  if (!hasWaited && !isFormer) {
    // A part that is not final yet may give an open payment another window.
    const isUndecided = isUnfunded(payment) && parts.arrived > 0n;
    return isUndecided || isOpen(payment, earliestAt) ? {} : { ended: payment };
  }
  const isPromised = !isFormer || isBy(promisedUntil, earliestAt);
  return { own: { ...parts, paymentId, isFormer, isPromised } };
}

/** Requested amounts that a wallet may have cut to the amount of the transfer; see `listCut`. */
async function findCut(
  db: Connection,
  slot: Slot,
  when: WaitedAt,
  named: string | undefined,
): Promise<CutAmount[]> {
  const network = await findNetwork(db, slot.blockchainId);
  const range = uncut(slot.tokenAmount, network?.asset_decimals ?? 0);
  return range === null ? [] : listCut(db, slot, when, range, named);
}

/**
 * Whether the amount of a quote, current or former, may still pay its payment: the payment is open, and the price was
 * promised until then.
 */
function mayStillPay({ promisedUntil, payment }: Holder, earliestAt: Date): boolean {
  return isOpen(payment, earliestAt) && isBy(promisedUntil, earliestAt);
}

/** Whether a payment is paid, or its funds have been seen. */
function hasFunds(payment: PaymentInWait | undefined): boolean {
  const isSeen = payment?.status === 'pending' && payment.session_status === 'completed';
  return isSeen || payment?.status === 'successful';
}

/** Whether a payment waits for funds, under any quote, and had not expired at a time. */
function isOpen(payment: PaymentInWait | undefined, at: Date): payment is PaymentInWait {
  return payment !== undefined && isUnfunded(payment) && isBy(payment.expires_at, at);
}

function isUnfunded({ status, session_status: session }: PaymentInWait): boolean {
  return status === 'pending' && session === 'pending';
}

/** Whether a time is before an end, or after it by at most the longest time between two polls of a watcher. */
function isBy(end: Date, at: Date): boolean {
  return at.getTime() <= end.getTime() + OVERDUE_BY_MS;
}

/**
 * The payment that a reference of a transfer names, whether or not it has funds already. undefined if the references
 * name no payment that had an amount reserved at the address at the time.
 */
async function findNamed(
  db: Connection,
  slot: Slot,
  at: Date,
  references: readonly string[],
): Promise<string | undefined> {
  if (references.length === 0) return undefined;
  const marks = new Set(references);
  const holders = await listHolders(db, slot, at, NAMED_MAXIMUM);
  return holders.find(paymentId => marks.has(solanaReference(paymentId)));
}

/**
 * Whether a transfer to the slot has exactly the amount that a waiting payment asks for. `holder` is locked; what it has
 * reserved was read before.
 */
export function isExact(
  holder: Holder | undefined,
  slot: Slot,
  earliestAt: Date,
): holder is Holder {
  if (holder?.releasedAt !== null || holder.isRest) return false;
  if (holder.payment.token_amount !== slot.tokenAmount.toString()) return false;
  return isWaiting(holder.payment, slot, earliestAt);
}

function isWaiting(
  payment: PaymentInWait,
  place: Pick<Slot, 'blockchainId' | 'address'>,
  earliestAt: Date,
): boolean {
  const end = payment.quoted_until ?? payment.expires_at;
  return isAt(payment, place) && isOpen(payment, earliestAt) && isBy(end, earliestAt);
}

/** Whether a payment asks to be paid at a place. */
function isAt(
  payment: Pick<PaymentInWait, 'blockchain_id' | 'address'>,
  { blockchainId, address }: Pick<Slot, 'blockchainId' | 'address'>,
): boolean {
  return payment.blockchain_id === blockchainId && payment.address === address;
}
