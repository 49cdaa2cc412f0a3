const OPEN = 'pending/pending';
/** Funds are seen and not final yet. */
export const SEEN = 'pending/completed';

/**
 * The pairs of status and session status a payment may be in, and where each may go: decisions,
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
