/**
 * How many examples of a property that takes long are played: a third of them, or as many times all as PROPERTY_RUNS
 * says. Each run draws others, unless the seed is given.
 */
export function runs(all: number): number {
  return Math.ceil(all * Number(process.env.PROPERTY_RUNS ?? 1 / 3));
}
