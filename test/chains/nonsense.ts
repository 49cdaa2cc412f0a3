import fc from 'fast-check';
import { runs } from '../helpers/property-runs.ts';

/** What no element of an answer can be. `null` may mean something in the place of a whole answer. */
export const nonsense: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(42, -1, 'nonsense', '', true, [], {}, [null], { hash: 'nonsense' }),
  fc.string(),
  fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(fc.string(), fc.integer()), { maxKeys: 3 }),
);

/** How many generated answers each property is tried with; the same in each run. */
export const RUNS = { numRuns: runs(60), seed: 1 };
