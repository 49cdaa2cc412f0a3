/**
 * Between which amounts what is asked for lies, if a wallet has made `sent` of it by leaving decimals out: it may cut them
 * off, or round half up or down. Exchanges do so, to 2, 4, 6 or 8 decimals.
 *
 * Whatever number of decimals it left: with each more that `sent` ends in zero at, the amounts that it may come from are
 * among those of the fewest decimals that it has.
 *
 * @param sent In the asset's smallest unit, more than 0.
 * @param decimals Of the asset.
 * @returns The least such amount, and one more than the greatest; null where nothing can have been left out.
 */
export function uncut(
  sent: bigint,
  decimals: number,
): { readonly from: bigint; readonly to: bigint } | null {
  let unit = 1n;
  for (let left = decimals; left > 0 && sent % (unit * 10n) === 0n; left--) unit *= 10n;
  return unit === 1n ? null : { from: sent - unit / 2n, to: sent + unit };
}
