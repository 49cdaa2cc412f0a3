import { Counter } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/payment-tables.ts';
import { afterCommit } from '../database/transaction.ts';
import { insertMoveRecords } from '../repositories/move-records.ts';
import { type PaymentColumns, updatePaymentFrom } from '../repositories/payment-moves.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';
import { MOVES, type MoveName } from './moves.ts';
import { newEvent } from './record-event.ts';

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
  const { from, to, event } = MOVES[request.move];
  const settled = request.move === 'confirm' ? { paid_at: request.now } : {};
  const moved = await updatePaymentFrom(db, request.paymentId, from, {
    ...request.columns,
    ...settled,
    status: to.status,
    session_status: to.session,
  });
  if (moved === undefined) return undefined;
  const { payment, before } = moved;
  await insertMoveRecords(db, {
    transition: {
      id: uuidv7(),
      payment_id: payment.id,
      from_status: before.status,
      from_session_status: before.session,
      to_status: to.status,
      to_session_status: to.session,
      at: request.now,
      actor: request.actor,
      reason: request.reason,
    },
    event: event === null ? null : newEvent(event, payment, request.now, request.trace),
    releasedAt: to.status === 'pending' ? null : request.now,
  });
  const labels = {
    move: request.move,
    status: to.status,
    flow: payment.flow,
    blockchain_id: payment.blockchain_id ?? 'none',
  };
  afterCommit(db, () => paymentMoves.inc(labels));
  return payment;
}
