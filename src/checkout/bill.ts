import type { Payment } from '../database/payment-tables.ts';
import { dueCents } from '../payments/commission.ts';

/** What the customer pays, in USD cents. */
export interface Bill {
  readonly order: number;
  /** The commission if the customer pays it; 0 otherwise. */
  readonly fee: number;
  readonly total: number;
}

/** The bill is the same before and after a network is chosen. */
export function billOf(payment: Payment): Bill {
  const total = dueCents(payment);
  return { order: payment.amount, fee: total - payment.amount, total };
}
