import { OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import { requireEstablishedAdmin } from '#accounts/change-rights.ts';
import type { RefusalArguments } from '#errors/refusals/refused.ts';
import { requireSimulable } from '#payments/may-simulate.ts';
import { formatBaseUnits, parseBaseUnits } from '#payments/token-amount.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import { findAskedAssignment } from '#storage/repositories/deposits/asked-assignments.ts';
import { findMeantPayments, type MeantPayment } from '#storage/repositories/deposits/deviations.ts';
import { findAskedBefore } from '#storage/repositories/deposits/former-quotes.ts';
import { findParts } from '#storage/repositories/deposits/parts.ts';
import { findRest } from '#storage/repositories/deposits/rests.ts';
import { lockPayment } from '#storage/repositories/payments/moves.ts';
import { isSimulationAllowed } from '#storage/repositories/simulated-services.ts';
import { OVERPAYMENT_PER_MILLE } from './match-transfer.ts';

const BASIS_POINTS = 10_000n;

/** Consents of the person who assigns a deposit, each to something that otherwise refuses the assignment. */
export interface Consent {
  /** Consent although it was meant for another payment. */
  readonly otherOrder?: boolean | undefined;
  /** Consent to too little or too much: both amounts, typed as decimals of the asset. */
  readonly amounts?: TypedAmounts | undefined;
}

interface TypedAmounts {
  readonly arrived: string;
  readonly due: string;
}

/**
 * The assignment needs a consent: it was meant for another payment, or the amount is too little or too much.
 * One person alone cannot consent to the latter.
 */
export class ConsentNeeded extends OperationRefused {
  readonly to: keyof Consent;

  constructor(to: keyof Consent, ...refusal: RefusalArguments) {
    super(...refusal);
    this.to = to;
  }
}

/** A deposit and the amount that its payment still waits for, in the asset's smallest unit. */
export interface Assignment {
  readonly deposit: Deposit;
  readonly payment: Payment;
  readonly arrived: bigint;
  /** The whole amount, or the rest after what is final. */
  readonly due: bigint;
  readonly decimals: number;
  /** How the amount differs from what is due by more than one person alone may accept; null if it does not. */
  readonly difference: Difference | null;
}

/**
 * - `tooLittle`: less than what is due, by more than the merchant tolerates
 * - `tooMuch`: more than what is due, by more than `OVERPAYMENT_PER_MILLE` of the whole amount, like a transfer that no
 *   payment takes by itself
 */
type Difference = 'tooLittle' | 'tooMuch';

/**
 * The assignment of a deposit to a payment, whose row is locked.
 * @throws OperationRefused for a payment that has ended, has funds already or never expected anything at the network
 * and address, and for a simulated deposit to a live merchant's, unless the service simulates.
 */
export async function requireAssignable(
  db: Connection,
  deposit: Deposit,
  paymentId: string,
): Promise<Assignment> {
  const payment = await lockPayment(db, paymentId);
  if (payment === undefined) throw new OperationRefused('payment-unknown', { paymentId });
  if (payment.status !== 'pending') {
    throw new OperationRefused('payment-ended', { status: payment.status });
  }
  if (payment.session_status !== 'pending') throw new OperationRefused('payment-funded');
  // It arrived when the service simulated.
  if (deposit.source === 'simulation') {
    await requireSimulable(db, await isSimulationAllowed(db), payment);
  }
  const [asked, merchant] = await Promise.all([
    findAsked(db, payment, deposit),
    findMerchant(db, payment.merchant_id),
  ]);
  const arrived = BigInt(deposit.token_amount);
  const tolerance = BigInt(merchant?.underpayment_tolerance_bps ?? 0);
  return {
    deposit,
    payment,
    arrived,
    due: asked.due,
    decimals: asked.decimals,
    difference: differenceOf(arrived, asked, tolerance),
  };
}

/** @param tolerance How much less the merchant tolerates, in basis points of the whole amount. */
function differenceOf(
  arrived: bigint,
  { whole, due, least }: Pick<Asked, 'whole' | 'due' | 'least'>,
  tolerance: bigint,
): Difference | null {
  // Requested amounts are slightly above the price so that they differ: `least` already suffices.
  if (arrived < least && (due - arrived) * BASIS_POINTS > whole * tolerance) return 'tooLittle';
  return (arrived - due) * 1000n > whole * OVERPAYMENT_PER_MILLE ? 'tooMuch' : null;
}

/** What a payment asks for, in the asset's smallest unit. */
interface Asked {
  readonly whole: bigint;
  /** The whole amount, or the rest after an underpayment. */
  readonly due: bigint;
  /** The smallest amount that settles it if a wallet has cut off decimals. */
  readonly least: bigint;
  readonly decimals: number;
}

/**
 * The amount that a payment asks for at the network and address of a deposit, or asked for there under a former
 * quote.
 * @throws OperationRefused if it never asked for an amount there.
 */
async function findAsked(db: Connection, payment: Payment, deposit: Deposit): Promise<Asked> {
  const { blockchain_id: blockchainId, address, token_amount: amount } = payment;
  const isHere =
    blockchainId === deposit.blockchain_id && address === deposit.address && amount !== null;
  const asked = await findAskedBefore(db, payment.id, { ...deposit, outcome: 'assigned' });
  if (asked === undefined) {
    throw new OperationRefused(
      blockchainId === deposit.blockchain_id
        ? 'deposit-at-other-address'
        : 'deposit-on-other-network',
    );
  }
  const whole = BigInt(asked.tokenAmount);
  const { decimals } = asked;
  const parts = isHere ? await findParts(db, payment.id, { blockchainId, address }) : undefined;
  if (parts !== undefined) {
    const { final, settlesFrom } = parts;
    return { whole, due: whole - final, least: settlesFrom - final, decimals };
  }
  const rest = isHere ? await findRest(db, payment.id) : undefined;
  if (rest !== undefined) {
    return { whole, due: rest.tokenAmount, least: rest.cutFrom ?? rest.tokenAmount, decimals };
  }
  // The assignment returns the payment to that quote. A deposit that is not final could still be reversed, which
  // would undo this.
  if (!isHere && deposit.state !== 'final') throw new OperationRefused('deposit-for-former-quote');
  return { whole, due: whole, least: BigInt(asked.cutFrom ?? asked.tokenAmount), decimals };
}

/** Both amounts as decimals of the asset, as they are typed and recorded. */
export function amountsOf({ arrived, due, decimals }: Assignment): TypedAmounts {
  return { arrived: formatBaseUnits(arrived, decimals), due: formatBaseUnits(due, decimals) };
}

/** Another payment that the deposit was meant for. */
export async function findOtherOrder(
  db: Connection,
  { deposit, payment }: Assignment,
): Promise<MeantPayment | undefined> {
  const meant = (await findMeantPayments(db, [deposit.id])).get(deposit.id);
  return meant?.id === payment.id ? undefined : meant;
}

/** @throws ConsentNeeded if it was meant for another payment. */
export async function requireOrder(
  db: Connection,
  assignment: Assignment,
  { otherOrder }: Consent,
): Promise<void> {
  if (otherOrder === true) return;
  const meant = await findOtherOrder(db, assignment);
  if (meant === undefined) return;
  const { id: paymentId, status } = meant;
  throw new ConsentNeeded('otherOrder', 'deposit-for-other-payment', { paymentId, status });
}

/**
 * Lets too little or too much settle a payment only if two people agree, or an operator does. The person who confirms
 * has to type both amounts. In the panel another person must have asked for it before, and both need the standing that
 * approving a change of where money goes requires.
 * @param delayMs How long such changes wait, in milliseconds.
 * @returns Who asked for it; null for an operator, and for an amount that one person alone may accept.
 * @throws ConsentNeeded; OperationRefused for a person without the standing.
 */
export async function requireConfirmed(
  operator: Operator,
  assignment: Assignment,
  { amounts: typed }: Consent,
  delayMs: number,
): Promise<string | null> {
  const { db, personId } = operator;
  const { arrived, due, deposit, payment, decimals, difference } = assignment;
  if (difference === null) return null;
  const amounts = { ...amountsOf(assignment), difference };
  const asked = personId === undefined ? undefined : await findAskedAssignment(db, deposit.id);
  const isAsked = asked?.paymentId === payment.id && asked.personId !== personId;
  if (personId !== undefined && !isAsked) {
    throw new ConsentNeeded('amounts', 'amount-unasked', amounts);
  }
  if (
    isAsked &&
    !(await isEstablishedAdmin({ ...operator, personId: asked.personId }, payment, delayMs))
  ) {
    throw new ConsentNeeded('amounts', 'amount-asked-by-former-admin', amounts);
  }
  if (personId !== undefined) await requireEstablishedAdmin(operator, payment.merchant_id, delayMs);
  if (typed === undefined) throw new ConsentNeeded('amounts', 'amount-untyped', amounts);
  const isRight =
    parseBaseUnits(typed.arrived, decimals) === arrived &&
    parseBaseUnits(typed.due, decimals) === due;
  if (!isRight) throw new ConsentNeeded('amounts', 'amount-mistyped', amounts);
  return asked?.personId ?? null;
}

/** Whether the person who asked still has the standing: they may have asked long ago. */
function isEstablishedAdmin(
  operator: Operator,
  { merchant_id: merchantId }: Pick<Payment, 'merchant_id'>,
  delayMs: number,
): Promise<boolean> {
  return requireEstablishedAdmin(operator, merchantId, delayMs).then(
    () => true,
    error => {
      if (error instanceof OperationRefused) return false;
      throw error;
    },
  );
}
