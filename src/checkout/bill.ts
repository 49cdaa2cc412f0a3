import type { Payment } from '../database/tables.ts';
import { dueCents } from '../payments/commission.ts';

/** What the customer pays, in cents. */
export interface Bill {
  readonly order: number;
  /** The commission, where the customer bears it; 0 otherwise. */
  readonly fee: number;
  readonly total: number;
}

/** The bill of a payment, the same before a network is chosen and after. */
export function billOf(payment: Payment): Bill {
  const total = dueCents(payment);
  return { order: payment.amount, fee: total - payment.amount, total };
}
