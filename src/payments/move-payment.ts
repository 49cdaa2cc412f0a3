import { Counter } from 'prom-client';
import { newId } from '#crypto/new-id.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { afterCommit } from '#storage/database/transaction.ts';
import { insertMoveRecords } from '#storage/repositories/payments/move-records.ts';
import { type PaymentColumns, updatePaymentsFrom } from '#storage/repositories/payments/moves.ts';
import type { TraceContext } from '#telemetry/trace-context.ts';
import { MOVES, type MoveName } from './moves.ts';
import { newEvent } from './new-event.ts';

const paymentMoves = new Counter({
  name: 'eps_payment_moves_total',
  help: 'Payments moved by this process, by the status they came to; detect and revert leave them pending',
  labelNames: ['move', 'status', 'flow', 'blockchain_id'],
});

export interface MoveRequest {
  readonly paymentId: string;
  readonly move: MoveName;
  /** Who moves it: `customer`, `worker`, `chain`, a processor's or an operator's name. */
  readonly actor: string;
  /** The reason, for the history. */
  readonly reason: string;
  /** Columns that change with the status, such as the transaction hash. */
  readonly columns?: PaymentColumns;
  readonly now: Date;
  /** Trace of the request that moves it; none when it is not a request. */
  readonly trace?: TraceContext | null;
}

/**
 * Moves a payment by one guarded update, records the transition and the event, and releases the
 * reserved amount when the new status is final. Call it in a transaction; of several concurrent moves
 * one wins.
 * @returns The payment after the move; undefined when its state does not allow the move.
 */
export async function movePayment(
  db: Connection,
  request: MoveRequest,
): Promise<Payment | undefined> {
  const [payment] = await movePayments(db, [request]);
  return payment;
}

/**
 * Moves payments like `movePayment`, with as many statements as for one.
 * @param requests For different payments. They differ in reason and transaction hash only.
 * @returns The payments that were moved, in any order.
 */
export async function movePayments(
  db: Connection,
  requests: readonly MoveRequest[],
): Promise<Payment[]> {
  const [first] = requests;
  if (first === undefined) return [];
  const { move, actor, columns, now, trace } = first;
  const { from, to, event } = MOVES[move];
  const hashes = requests.map(each => [each.paymentId, each.columns?.transaction_hash ?? null]);
  const moved = await updatePaymentsFrom(db, Object.fromEntries(hashes), from, {
    ...columns,
    ...(move === 'confirm' ? { paid_at: now } : {}),
    status: to.status,
    session_status: to.session,
  });
  if (moved.length === 0) return [];
  const reasons = new Map(requests.map(({ paymentId, reason }) => [paymentId, reason]));
  const records = moved.map(({ payment, before }) => ({
    transition: {
      id: newId(),
      payment_id: payment.id,
      from_status: before.status,
      from_session_status: before.session,
      to_status: to.status,
      to_session_status: to.session,
      at: now,
      actor,
      reason: reasons.get(payment.id) ?? '',
    },
    event: event === null ? null : newEvent(event, payment, now, trace),
  }));
  await insertMoveRecords(db, records, to.status === 'pending' ? null : now);
  const payments = moved.map(({ payment }) => payment);
  afterCommit(db, () => {
    for (const { flow, blockchain_id } of payments) {
      const labels = { move, status: to.status, flow, blockchain_id: blockchain_id ?? 'none' };
      paymentMoves.inc(labels);
    }
  });
  return payments;
}
