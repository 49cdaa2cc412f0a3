import type { PaymentEventType } from '#schemas/event.ts';
import type { PaymentState } from '#storage/repositories/payments/moves.ts';

interface Move {
  readonly from: readonly PaymentState[];
  readonly to: PaymentState;
  /** The event that tells the merchant; none for a step back, which a later event supersedes. */
  readonly event: PaymentEventType | null;
}

const OPEN = { status: 'pending', session: 'pending' } as const;
const SEEN = { status: 'pending', session: 'completed' } as const;

/**
 * Every allowed move. `session` becomes `completed` when enough funds have been seen; `status` follows
 * when they are final. Every status but `pending` is terminal. The database enforces the same table.
 */
export const MOVES = {
  /** Enough funds are seen, but may still disappear. */
  detect: { from: [OPEN], to: SEEN, event: 'payment_prompt.detected' },
  /** A reorganisation took the funds back. */
  revert: { from: [SEEN], to: OPEN, event: null },
  /** The funds are final. */
  confirm: {
    from: [OPEN, SEEN],
    to: { status: 'successful', session: 'completed' },
    event: 'payment_prompt.successful',
  },
  /** The transaction or the processor's charge failed for good. */
  fail: {
    from: [OPEN, SEEN],
    to: { status: 'unsuccessful', session: 'completed' },
    event: 'payment_prompt.unsuccessful',
  },
  /** The time passed without any funds. */
  expire: {
    from: [OPEN],
    to: { status: 'expired', session: 'expired' },
    event: 'payment_prompt.expired',
  },
  /** The time passed with too little paid. */
  expireUnderpaid: {
    from: [OPEN],
    to: { status: 'unsuccessful', session: 'expired' },
    event: 'payment_prompt.unsuccessful',
  },
  /** The customer or the system cancelled before any funds were seen. */
  cancel: {
    from: [OPEN],
    to: { status: 'cancelled', session: 'cancelled' },
    event: 'payment_prompt.cancelled',
  },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof MOVES;
