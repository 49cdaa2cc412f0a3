import type { Payment } from '#storage/database/payment-tables.ts';

const MINUTE_MS = 60_000;
/** Maximum lifetime of a payment, however often the customer selects another network. */
const LIFETIME_MAXIMUM_MS = 24 * 60 * MINUTE_MS;

type Deadlines = Pick<Payment, 'expires_at' | 'quoted_until'>;

/**
 * When a payment expires and until when its price is held, counted from the choice of a network. A payment whose
 * expiry was fixed at creation keeps that expiry; its price is held for the network's window only.
 */
export function deadlinesFrom(
  { expiry_fixed, expires_at, created_at }: Payment,
  windowMinutes: number,
  now: Date,
): Deadlines {
  const window = now.getTime() + windowMinutes * MINUTE_MS;
  if (expiry_fixed) {
    return { expires_at, quoted_until: new Date(Math.min(window, expires_at.getTime())) };
  }
  const latest = created_at.getTime() + LIFETIME_MAXIMUM_MS;
  return { expires_at: new Date(Math.min(window, latest)), quoted_until: null };
}

/** The deadlines of a payment whose customer gets another window for the rest; never earlier ones. */
export function extendedDeadlines(payment: Payment, windowMinutes: number, now: Date): Deadlines {
  const { expires_at, quoted_until } = deadlinesFrom(payment, windowMinutes, now);
  return {
    expires_at: later(payment.expires_at, expires_at),
    quoted_until:
      payment.quoted_until === null || quoted_until === null
        ? quoted_until
        : later(payment.quoted_until, quoted_until),
  };
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
