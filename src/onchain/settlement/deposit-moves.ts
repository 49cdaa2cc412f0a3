import type { MoveRequest } from '#payments/move-payment.ts';
import type { Deposit, DepositState } from '#storage/database/deposit-tables.ts';
import type { PaymentColumns } from '#storage/repositories/payments/moves.ts';

const NO_ERROR = { last_error_code: null, last_error_message: null, last_error_at: null };

/**
 * How a deposit that suffices moves its payment.
 * @param before The underpayment that this deposit completes, if it is the rest.
 */
export function moveFor(
  { state, outcome, transaction_hash: hash }: Deposit,
  before: Deposit | undefined,
  now: Date,
): Pick<MoveRequest, 'move' | 'reason' | 'columns'> {
  const isRest = outcome === 'rest' && before !== undefined;
  const rest = isRest
    ? `, the rest after the transfer ${before.transaction_hash}`
    : outcome === 'tolerated'
      ? ', a little short, which is tolerated'
      : '';
  const moves: Record<DepositState, Pick<MoveRequest, 'move' | 'reason' | 'columns'>> = {
    seen: {
      move: 'detect',
      reason: `transfer ${hash} seen${rest}`,
      columns: { transaction_hash: hash, ...NO_ERROR },
    },
    final: {
      move: 'confirm',
      reason: `transfer ${hash} final${rest}`,
      columns: { transaction_hash: hash, ...NO_ERROR },
    },
    reversed: {
      move: 'revert',
      reason: `transfer ${hash} reversed by a chain reorganisation`,
      columns: {
        transaction_hash: null,
        ...problem('transfer_reversed', `The transfer ${hash} was undone by the chain.`, now),
      },
    },
    failed: {
      move: 'fail',
      reason: `transaction ${hash} failed`,
      columns: {
        transaction_hash: hash,
        ...problem('transaction_reverted', `The transaction ${hash} failed on chain.`, now),
      },
    },
  };
  return moves[state];
}

function problem(code: string, message: string, now: Date): PaymentColumns {
  return { last_error_code: code, last_error_message: message, last_error_at: now };
}
