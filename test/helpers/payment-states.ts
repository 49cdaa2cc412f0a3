const OPEN = 'pending/pending';
/** Funds are seen, but not final yet. */
export const SEEN = 'pending/completed';

/**
 * The allowed pairs of status and session status of a payment, and where each may move: decisions,
 * section 6.
 */
export const ALLOWED_MOVES: Readonly<Record<string, readonly string[]>> = {
  [OPEN]: [
    SEEN,
    'successful/completed',
    'unsuccessful/completed',
    'unsuccessful/expired',
    'expired/expired',
    'cancelled/cancelled',
  ],
  [SEEN]: [OPEN, 'successful/completed', 'unsuccessful/completed'],
  'successful/completed': [],
  'unsuccessful/completed': [],
  'unsuccessful/expired': [],
  'expired/expired': [],
  'cancelled/cancelled': [],
};
