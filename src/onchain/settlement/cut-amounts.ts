/**
 * The range of requested amounts from which a wallet may have made `sent` by dropping decimals. It may truncate, or
 * round half up or down. Exchanges do so, to 2, 4, 6 or 8 decimals.
 *
 * If `sent` ends in several zeros, it is unknown how many decimals the wallet kept. The range is that of the fewest,
 * which contains the ranges of all others.
 *
 * @param sent In the asset's smallest unit, more than 0.
 * @param decimals Of the asset.
 * @returns The lowest such amount, and one more than the highest; null if nothing can have been dropped.
 */
export function uncut(
  sent: bigint,
  decimals: number,
): { readonly from: bigint; readonly to: bigint } | null {
  let unit = 1n;
  for (let left = decimals; left > 0 && sent % (unit * 10n) === 0n; left--) unit *= 10n;
  return unit === 1n ? null : { from: sent - unit / 2n, to: sent + unit };
}
