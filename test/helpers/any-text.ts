import fc from 'fast-check';

/**
 * Any character, including unpaired surrogates. `unit: 'binary'` does the same, but takes half a second of CPU in
 * each process for a table of all characters.
 */
export const anyCharacter = fc.nat(0x10_ff_ff).map(point => String.fromCodePoint(point));

/** Text of any characters. */
export const anyText = (constraints: fc.StringConstraints = {}): fc.Arbitrary<string> =>
  fc.string({ ...constraints, unit: anyCharacter });
