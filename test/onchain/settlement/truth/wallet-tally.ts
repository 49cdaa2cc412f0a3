import type { History } from './history.ts';
import type { Rows } from './rows.ts';
import { addressOf } from './stage.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Counts of what has happened at a history's wallet, each name once for each time. */
export function listWalletUses(
  { seed, addresses, isWallet, hasTwoBranches }: History,
  rows: Rows,
): string[] {
  if (!isWallet) return [];
  const { reservations, deposits, payments } = rows;
  const all = Array.from({ length: addresses }, (_, place) => addressOf(seed, place));
  const names = hasTwoBranches ? ['all', 'of two branches'] : ['all'];
  for (const [
    index,
    { address, payment_id: id, rest_of: rest, reserved_at: at },
  ] of reservations.entries()) {
    const before = reservations.slice(0, index);
    if (rest !== null || before.some(each => each.payment_id === id)) continue;
    const others = before.filter(each => each.address === address);
    const isTaken = others.some(({ released_at: to }) => to === null || +to > +at - DAY_MS);
    const isUnused = (place: string) =>
      !before.some(each => each.address === place) &&
      !deposits.some(each => each.address === place);
    if (isTaken && all.some(isUnused)) names.push('shared, since the gap is full');
    if (isTaken && !all.some(isUnused)) names.push('shared, since all are out');
    if (all.indexOf(address) >= 18) names.push('asked for behind a funded one');
    if (others.length === 0 || isTaken) continue;
    names.push('asked for again');
    const isLate = deposits.some(
      each =>
        each.address === address &&
        each.observed_at >= at &&
        others.some(other => other.token_amount === each.token_amount),
    );
    if (isLate) names.push('asked for again, with late money of the first');
  }
  for (const { id, status } of payments) {
    const parts = deposits.filter(each => each.payment_id === id && each.state === 'final');
    const hasRest = reservations.some(each => each.payment_id === id && each.rest_of !== null);
    const isByParts = parts.length > 1 && parts.some(({ outcome }) => outcome === 'rest');
    if (status === 'successful' && isByParts && !hasRest) names.push('settled by parts');
  }
  return names;
}
