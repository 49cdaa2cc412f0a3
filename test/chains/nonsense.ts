import fc from 'fast-check';
import { runs } from '../helpers/property-runs.ts';

/** Values that no element of a response may have. `null` may be a valid whole response. */
export const nonsense: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(42, -1, 'nonsense', '', true, [], {}, [null], { hash: 'nonsense' }),
  fc.string(),
  fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(fc.string(), fc.integer()), { maxKeys: 3 }),
);

/** Number of generated responses per property; the same in each run. */
export const RUNS = { numRuns: runs(60), seed: 1 };
