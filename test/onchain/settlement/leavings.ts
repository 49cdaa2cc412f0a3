/**
 * Every amount that a wallet may send that cuts off or rounds decimals of an amount, up to the last one.
 * @param decimals Of the asset.
 * @returns Only amounts other than `asked`, and never 0.
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
