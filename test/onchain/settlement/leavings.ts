/**
 * What wallets send of an amount of which they leave out decimals, cutting them off or rounding, up to the last one.
 * @param decimals Of the asset.
 * @returns Each other amount than the one that was asked for, and none of nothing.
 */
export function leavings(asked: bigint, decimals: number): bigint[] {
  const sent = new Set<bigint>();
  for (let unit = 10n; unit <= 10n ** BigInt(decimals); unit *= 10n) {
    const cut = asked - (asked % unit);
    sent.add(cut);
    if (asked % unit >= unit / 2n) sent.add(cut + unit);
  }
  sent.delete(asked);
  sent.delete(0n);
  return [...sent];
}
