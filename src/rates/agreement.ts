import type { Rate } from './rate-source.ts';

/** A rate and who gave it. */
export interface SourcedRate extends Rate {
  readonly source: string;
}

export interface Agreement {
  /** Halfway between the lowest and the highest price agreed, as old as the oldest of them. */
  readonly rate: Rate;
  /** Sources whose price is not part of the agreement. */
  readonly outliers: readonly string[];
}

/** How far prices that agree may be apart, in per mille of the lowest: 1.5 %. */
export const TOLERANCE_PER_MILLE = 15n;

/** One source alone is never believed. */
const LEAST_SOURCES = 2;

/**
 * Finds what most sources agree on: the largest group of prices within 1.5 %, the closest one where
 * several are as large. It takes two at least and more than half of those with a say: two against
 * two settle nothing.
 *
 * @param rates Fresh rates of one asset, each from another source.
 * @param voters Sources with a say, those that have not answered yet among them, so that whatever is
 *   agreed on now cannot be outvoted later.
 */
export function agree(rates: readonly SourcedRate[], voters: number): Agreement | undefined {
  const sorted = rates.toSorted((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0));
  for (let size = sorted.length; size >= LEAST_SOURCES && size * 2 > voters; size -= 1) {
    const groups = sorted
      .slice(0, sorted.length - size + 1)
      .map((_, start) => toGroup(sorted.slice(start, start + size)))
      .filter(group => group !== undefined)
      .filter(({ low, spread }) => spread * 1000n <= low * TOLERANCE_PER_MILLE);
    const [first, ...others] = groups;
    if (first === undefined) continue;
    const { members, low, spread } = others.reduce(
      (best, group) => (group.spread < best.spread ? group : best),
      first,
    );
    return {
      rate: {
        symbol: first.symbol,
        price: low + spread / 2n,
        at: Math.min(...members.map(member => member.at)),
      },
      outliers: rates.filter(rate => !members.includes(rate)).map(rate => rate.source),
    };
  }
  return undefined;
}

/** Rates sorted by price, with the lowest price and the distance to the highest. */
function toGroup(members: readonly SourcedRate[]) {
  const lowest = members[0];
  const highest = members.at(-1);
  if (lowest === undefined || highest === undefined) return undefined;
  const { symbol, price: low } = lowest;
  return { symbol, members, low, spread: highest.price - low };
}
