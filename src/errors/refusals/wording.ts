/** A sentence, or a function that puts values into one. */
type Sentence = string | ((values: never) => string);

/** A code of a catalogue, with the values of its sentence. */
export interface Coded<Code extends string> {
  readonly code: Code;
  readonly values: unknown;
}

/** A code of a catalogue and, if its sentence has any, its values: as arguments. */
export type CodedArguments<Catalogue> = {
  [Code in keyof Catalogue]: Catalogue[Code] extends (values: infer Values) => string
    ? readonly [code: Code, values: Values]
    : readonly [code: Code, values?: undefined];
}[keyof Catalogue];

/** A catalogue with the same codes and values in another language. */
export type Translation<Catalogue> = {
  readonly [Code in keyof Catalogue]: Catalogue[Code] extends string ? string : Catalogue[Code];
};

/** The sentence of a refusal in the language of the catalogue. */
export function wordRefusal<Code extends string>(
  catalogue: Readonly<Record<Code, Sentence>>,
  { code, values }: Coded<Code>,
): string {
  const sentence: Sentence = catalogue[code];
  // The constructor that took both has checked that the values are those of the code.
  return typeof sentence === 'string' ? sentence : sentence(values as never);
}
