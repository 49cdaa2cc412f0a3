/** Pseudo-random numbers that depend on the seed alone, whatever else runs. */
export interface Random {
  /** An integer from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  /** True in this percentage of calls. */
  chance(percent: number): boolean;
  /** @throws RangeError for an empty list. */
  pick<T>(list: readonly T[]): T;
}

/** @param name Separates streams that are drawn from one seed for different purposes. */
export function createRandom(name: string, seed: number): Random {
  // FNV-1a of name and seed starts mulberry32: both are short, in the public domain, and the same everywhere.
  let state = 2_166_136_261;
  for (const character of `${name} ${seed}`) {
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619);
  }
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    below: limit => Math.floor(next() * limit),
    chance: percent => next() * 100 < percent,
    pick(list) {
      const found = list[Math.floor(next() * list.length)];
      if (found === undefined) throw new RangeError('nothing to pick from');
      return found;
    },
  };
}
