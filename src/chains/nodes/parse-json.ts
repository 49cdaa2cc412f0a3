/** Finds a number in JSON with so many digits that a double may not hold it. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;
const INTEGER = /^-?\d{16,}$/;

/** `JSON.parse` with a reviver that gets the source text of primitive values (V8 from Node 21 on). */
type Parse = (
  text: string,
  revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

/**
 * Parses JSON. An integer that a double cannot hold exactly becomes a bigint, so that no amount is rounded; other
 * numbers stay numbers.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // A reviver is slow, and few responses have such a number.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return (JSON.parse as Parse)(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source)
      ? BigInt(source)
      : value,
  );
}

/** Writes what `parseJson` has read; bigints become the same digits again. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? rawJson(each) : each));
}

/** A value that is written as a JSON number with these digits. */
function rawJson(value: bigint): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return rawJSON(value.toString());
}
