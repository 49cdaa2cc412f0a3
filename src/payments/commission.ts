const BASIS_POINTS = 10_000n;

/** Commission in cents on an amount in cents, rounded half up. */
export function commissionCents(amountCents: number, basisPoints: number): number {
  const scaled = BigInt(amountCents) * BigInt(basisPoints);
  return Number((scaled + BASIS_POINTS / 2n) / BASIS_POINTS);
}
