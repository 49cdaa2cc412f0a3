import fc from 'fast-check';

/**
 * With PROPERTY_SEED every property draws the same examples in each run, as `.ci/run` sets it: a change does not
 * pass by luck. Without it each run draws others, and a failure prints its seed.
 */
const seed = process.env.PROPERTY_SEED;
if (seed) fc.configureGlobal({ seed: Number(seed) });
