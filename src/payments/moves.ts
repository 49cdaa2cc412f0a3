import type { EventType } from '#schemas/event.ts';
import type { PaymentStatus, SessionStatus } from '../database/tables.ts';

/** Where a payment stands: whether it is settled, and whether its checkout is done. */
export interface PaymentState {
  readonly status: PaymentStatus;
  readonly session: SessionStatus;
}

interface Move {
  readonly from: readonly PaymentState[];
  readonly to: PaymentState;
  /** What the merchant is told; nothing for a step back that a later event will settle. */
  readonly event: EventType | null;
}

const OPEN = { status: 'pending', session: 'pending' } as const;
const SEEN = { status: 'pending', session: 'completed' } as const;

/**
 * Every way a payment may move. `session` becomes `completed` when enough funds have been seen;
 * `status` follows when they are final. Nothing leads out of a status other than `pending`, and the
 * database refuses by itself whatever is not here.
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
