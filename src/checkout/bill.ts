import type { Payment } from '../database/tables.ts';
import { commissionCents } from '../payments/commission.ts';

/** What the customer pays, in cents. */
export interface Bill {
  readonly order: number;
  /** The commission, where the customer bears it; 0 otherwise. */
  readonly fee: number;
  readonly total: number;
}

/** The bill of a payment, the same before a network is chosen and after. */
export function billOf(payment: Payment): Bill {
  const fee = payment.commission_payer === 'shopper' ? commissionOf(payment) : 0;
  return { order: payment.amount, fee, total: payment.amount + fee };
}

function commissionOf(payment: Payment): number {
  const { commission_amount: agreed } = payment;
  if (agreed !== null) return agreed;
  return payment.settlement_model === 'direct'
    ? 0
    : commissionCents(payment.amount, payment.commission_bps);
}
