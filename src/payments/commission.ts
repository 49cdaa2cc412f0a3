import type { CommissionPayer, SettlementModel } from '../database/tables.ts';

const BASIS_POINTS = 10_000n;

/** What decides on a commission and who bears it: a payment's own columns, or what becomes them. */
export interface CommissionTerms {
  /** Cents. */
  readonly amount: number;
  readonly commission_bps: number;
  readonly commission_payer: CommissionPayer;
  /** null on US accounts. */
  readonly settlement_model: SettlementModel | null;
}

/** Commission in cents on an amount in cents, rounded half up. */
export function commissionCents(amountCents: number, basisPoints: number): number {
  const scaled = BigInt(amountCents) * BigInt(basisPoints);
  return Number((scaled + BASIS_POINTS / 2n) / BASIS_POINTS);
}

/** What the customer is asked for, in cents: the amount, and the commission where they bear it. */
export function dueCents(terms: CommissionTerms): number {
  const { amount, commission_bps, commission_payer, settlement_model } = terms;
  const added = commission_payer === 'shopper' && settlement_model !== 'direct';
  return amount + (added ? commissionCents(amount, commission_bps) : 0);
}
