import type { Rate } from './rate-source.ts';

export interface SourcedRate extends Rate {
  /** The source's name. */
  readonly source: string;
}

interface Agreement {
  /** Midpoint of the lowest and highest price in the group, with the time of its oldest rate. */
  readonly rate: Rate;
  /** Names of the sources outside the group. */
  readonly outliers: readonly string[];
}

/** Maximum spread of the prices in a group, in per mille of the lowest: 1.5 %. */
const TOLERANCE_PER_MILLE = 15n;

/** A single source is never trusted. */
const MINIMUM_SOURCES = 2;

/**
 * Finds the majority: the largest group of prices within 1.5 %, and among groups of the same size
 * the one with the smallest spread. It needs at least two sources and more than half of `voters`; a
 * tie of two against two is no agreement.
 *
 * @param rates Fresh rates of one asset, each from another source.
 * @param voters Number of sources that vote. Counts those that have not answered yet, so that they
 *   cannot outvote the agreement later.
 */
export function agree(rates: readonly SourcedRate[], voters: number): Agreement | undefined {
  const sorted = rates.toSorted((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0));
  for (let size = sorted.length; size >= MINIMUM_SOURCES && size * 2 > voters; size -= 1) {
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

/** @param members Sorted by price. */
function toGroup(members: readonly SourcedRate[]) {
  const lowest = members[0];
  const highest = members.at(-1);
  if (lowest === undefined || highest === undefined) return undefined;
  const { symbol, price: low } = lowest;
  return { symbol, members, low, spread: highest.price - low };
}
