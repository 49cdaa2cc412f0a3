import type { CommissionPayer, SettlementModel } from '#storage/database/account-tables.ts';

const BASIS_POINTS = 10_000n;

/** The columns of a payment that determine its commission and who bears it. */
interface CommissionTerms {
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

/** Commission of a payment with a quote, in cents: none where it settles directly. */
export function quotedCommission({
  settlement_model,
  amount,
  commission_bps,
}: CommissionTerms): number {
  return settlement_model === 'direct' ? 0 : commissionCents(amount, commission_bps);
}

/** What the customer pays, in cents: the amount, plus the commission if the customer bears it. */
export function dueCents(terms: CommissionTerms): number {
  const { amount, commission_bps, commission_payer, settlement_model } = terms;
  const added = commission_payer === 'shopper' && settlement_model !== 'direct';
  return amount + (added ? commissionCents(amount, commission_bps) : 0);
}
