/**
 * How many examples of a slow property to run: a third of them, or `all` times PROPERTY_RUNS. Each run draws other
 * examples, unless the seed is given.
 */
export function runs(all: number): number {
  return Math.ceil(all * Number(process.env.PROPERTY_RUNS ?? 1 / 3));
}
