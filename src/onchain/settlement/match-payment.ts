import { solanaReference } from '#chains/solana-reference.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
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
import { matchTransfer } from './match-transfer.ts';

/** When a transfer happened at the latest and at the earliest. */
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
export const OVERDUE_BY_MS = 60_000;

/** Most payments at an address among which references are looked for. */
const NAMED_MAXIMUM = 1_000;

/**
 * Matches a transfer to the payment that waited for it when it happened, and locks the payment's row. The
 * payment is checked again under the lock: after its reservation was read it may have ended or moved to
 * another network. Customers choose networks without the address's lock, so that an amount may be reserved or given up
 * while this reads: then it reads again.
 * @param references Accounts that may be the reference of a payment. If one of them names a payment, the transfer
 * can only be for that one, also when that one has its funds already. Its amount is still judged like that of any
 * transfer, and does not match where another payment asks for exactly that amount.
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
  const cut = exact === undefined ? await findCut(db, slot, when, named) : [];
  // One of them may have ended between the two: then neither has it.
  const wereSeveral = open.length > 1;
  if (wereSeveral && (await listWaiting(db, slot, when, WAITING_MAXIMUM, named)).length <= 1) {
    return matchPayment(db, slot, { occurredAt: at, earliestAt }, references);
  }
  // What it gets by the promised price it gets however that has changed.
  const isCertain = exact !== undefined && (exact.seen || mayStillPay(exact, earliestAt));
  const now = isCertain ? undefined : await findReservations(db, slot, at);
  if (now !== undefined && hasChanged(holder, now)) {
    return matchPayment(db, slot, { occurredAt: at, earliestAt }, references);
  }
  const { outcome, paymentId, isFormer } = matchTransfer(slot.tokenAmount, {
    exact,
    open,
    cut,
    isNamed: named !== undefined,
    isSuperseded:
      exact === undefined && !isHeld && isHolders && isOpen(holder?.payment, earliestAt),
    reservedBefore:
      holder?.releasedAt != null &&
      holder.releasedAt.getTime() > earliestAt.getTime() - LATE_FOR_MS,
    // Funds for another of its quotes have been seen.
    isPaid: holder !== undefined && hasFunds(holder.payment),
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

/** What was waited for of which a wallet may have left the amount; see `listCut`. */
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

/** Whether a payment asked for an amount before it got another quote, whose price was promised until then. */
function mayStillPay({ promisedUntil, payment }: Holder, earliestAt: Date): boolean {
  return isOpen(payment, earliestAt) && isBy(promisedUntil, earliestAt);
}

/** Whether a payment is paid, or its funds have been seen. */
function hasFunds({ status, session_status: session }: PaymentInWait): boolean {
  return status === 'successful' || (status === 'pending' && session === 'completed');
}

/** Whether a payment waits for funds, by whatever quote, and did so at a time. */
function isOpen(payment: PaymentInWait | undefined, at: Date): boolean {
  return (
    payment?.status === 'pending' &&
    payment.session_status === 'pending' &&
    isBy(payment.expires_at, at)
  );
}

/** Whether a time is before an end, or as little after it as two polls of a watcher may be apart. */
function isBy(end: Date, at: Date): boolean {
  return at.getTime() <= end.getTime() + OVERDUE_BY_MS;
}

/**
 * The payment whose reference a transfer has, whether or not it has funds already; undefined if no payment that had
 * an amount reserved at the address at the time has one of them.
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
  { blockchainId, address }: Pick<Slot, 'blockchainId' | 'address'>,
  earliestAt: Date,
): boolean {
  const isHere = payment.blockchain_id === blockchainId && payment.address === address;
  const end = payment.quoted_until ?? payment.expires_at;
  return isHere && isOpen(payment, earliestAt) && isBy(end, earliestAt);
}
