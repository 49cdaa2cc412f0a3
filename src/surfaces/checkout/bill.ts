import { dueCents } from '#payments/commission.ts';
import type { Payment } from '#storage/database/payment-tables.ts';

/** What the customer pays, in USD cents. */
interface Bill {
  readonly order: number;
  /** The commission if the customer pays it; 0 otherwise. */
  readonly fee: number;
  readonly total: number;
}

/** The bill, which does not depend on the network. */
export function billOf(payment: Payment): Bill {
  const total = dueCents(payment);
  return { order: payment.amount, fee: total - payment.amount, total };
}
