import type { DepositOutcome } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { Transfer, Transfers } from '#storage/repositories/deposits/transfers.ts';

/**
 * What a transfer was counted for:
 * - `whole`, `tolerated` (a little less), `over` (a little more), `assigned` (by hand): the payment
 * - `first`: a part whose rest is due; `completed`: a part whose rest has come; `rest`: that rest
 * - `elsewhere`: a part at the payment's own address, which counts once the customer chooses its network again
 *
 * or why it was not counted:
 * - `too_little`: a part without a rest; `late`; `former`: for a quote that is not promised any more; `again`: after
 *   the payment was paid; `unclear`: otherwise
 * - `undone` by the chain, `failed` on it: nothing arrived
 */
type CountedFor =
  | 'whole'
  | 'tolerated'
  | 'over'
  | 'assigned'
  | 'first'
  | 'completed'
  | 'rest'
  | 'elsewhere'
  | 'too_little'
  | 'late'
  | 'former'
  | 'again'
  | 'unclear'
  | 'undone'
  | 'failed';

/** What became of a transfer that was not counted: nothing yet, or it was settled, or given back by a transaction. */
type Became = 'waits' | 'settled' | 'returned';

export interface CountedTransfer<T extends Transfer = Transfer> {
  readonly transfer: T;
  readonly countedFor: CountedFor;
  /** null for one that was counted, or that did not arrive. */
  readonly became: Became | null;
  /** Hash of the transaction that returned it; null if it was not returned. */
  readonly returnHash: string | null;
}

/** What a payment's page lists of its transfers. */
export interface CountedTransfers<T extends Transfer = Transfer> {
  /** The newest transfers, oldest first. */
  readonly listed: readonly CountedTransfer<T>[];
  /** How many older ones there are. */
  readonly earlier: number;
  /** By how much what was counted exceeds what was asked for, in the asset of the payment's network; null if by nothing. */
  readonly excess: AmountOfAsset | null;
}

/** An amount in the smallest unit of its asset. */
export type AmountOfAsset = Pick<Transfer, 'token_amount' | 'asset_decimals' | 'asset_symbol'>;

/** What transfers are compared with. */
type Expected = Pick<Payment, 'status' | 'session_status' | 'blockchain_id' | 'token_amount'>;

const UNCOUNTED: readonly CountedFor[] = ['too_little', 'late', 'former', 'again', 'unclear'];

/** Determines what each transfer of a payment was counted for. */
export function countTransfers<T extends Transfer>(
  payment: Expected,
  { newest, total }: Transfers<T>,
): CountedTransfers<T> {
  const isCompleted = newest.some(
    each => each.stray_kind === null && each.outcome === 'rest' && hasArrived(each),
  );
  const listed = newest.map(transfer => {
    const countedFor = countedForOf(transfer, payment, isCompleted);
    const became = UNCOUNTED.includes(countedFor) ? becameOf(transfer) : null;
    const returnHash = became === 'returned' ? returnHashOf(transfer) : null;
    return { transfer, countedFor, became, returnHash };
  });
  return { listed, earlier: total - listed.length, excess: excessOf(payment, newest) };
}

/** Too much is what `deviates` calls `over`: a rest may be a little more than what was missing. */
function excessOf(
  { blockchain_id: blockchainId, token_amount: asked }: Expected,
  newest: readonly Transfer[],
): AmountOfAsset | null {
  // Parts on a network that the customer has left are in another asset.
  const own = newest.filter(
    each => each.stray_kind === null && each.blockchain_id === blockchainId && hasArrived(each),
  );
  const has = (wanted: DepositOutcome) => own.some(({ outcome }) => outcome === wanted);
  const mayExceed = has('over') || has('assigned') || (has('under') && has('exact'));
  const [first] = own;
  if (first === undefined || asked === null) return null;
  const received = own.reduce((sum, { token_amount: units }) => sum + BigInt(units), 0n);
  const excess = received - BigInt(asked);
  // The last of several parts may be any amount.
  const isMuch = has('under') && has('rest') && excess * 50n > BigInt(asked);
  return excess > 0n && (mayExceed || isMuch) ? { ...first, token_amount: String(excess) } : null;
}

function countedForOf(transfer: Transfer, payment: Expected, isCompleted: boolean): CountedFor {
  const { state, outcome, stray_kind: strayKind } = transfer;
  if (state === 'reversed') return 'undone';
  if (state === 'failed') return 'failed';
  if (strayKind !== null) return strayReason(transfer, strayKind);
  switch (outcome) {
    case 'exact':
      return 'whole';
    case 'under':
      if (isCompleted) return 'completed';
      if (isRestDue(transfer, payment)) return 'first';
      return transfer.adds_up && isOpen(payment) ? 'elsewhere' : 'too_little';
    case 'over':
    case 'tolerated':
    case 'rest':
    case 'assigned':
      return outcome;
    default:
      return 'unclear';
  }
}

function isOpen({ status, session_status: session }: Expected): boolean {
  return status === 'pending' && session === 'pending';
}

/**
 * The kind of the link to the payment decides: the outcome may concern another payment, to which the transfer was
 * assigned, or which asked for the same amount.
 */
function strayReason({ outcome }: Transfer, kind: NonNullable<Transfer['stray_kind']>): CountedFor {
  if (kind === 'duplicate') return 'again';
  if (kind === 'superseded') return 'former';
  return outcome === 'late' || outcome === 'assigned' ? 'late' : 'unclear';
}

/** Until the part is final, nothing is reserved for the rest; at the payment's own address, never. */
function isRestDue(
  { state, rest_due: restDue, adds_up: addsUp, blockchain_id: blockchainId }: Transfer,
  payment: Expected,
): boolean {
  const isAwaited = (state === 'seen' || addsUp) && blockchainId === payment.blockchain_id;
  return payment.status === 'pending' && (restDue !== null || isAwaited);
}

function becameOf(transfer: Transfer): Became {
  const { payment_id: paymentId, stray_kind: strayKind, dismissed_at: dismissedAt } = transfer;
  if (returnHashOf(transfer) !== null) return 'returned';
  const isElsewhere = strayKind !== null && paymentId !== null;
  return dismissedAt !== null || isElsewhere ? 'settled' : 'waits';
}

function returnHashOf({
  remedy_hash: remedyHash,
  return_hash: returnHash,
}: Transfer): string | null {
  return remedyHash ?? returnHash;
}

function hasArrived({ state }: Transfer): boolean {
  return state === 'seen' || state === 'final';
}
