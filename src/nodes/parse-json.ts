/** Where JSON may have a number of so many digits that a double cannot hold it. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;
const INTEGER = /^-?\d{16,}$/;

/** A reviver that is told the text of a primitive value (V8 from Node 21 on). */
type Parse = (
  text: string,
  revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
) => unknown;

/**
 * Parses JSON. An integer that a double cannot hold exactly becomes a bigint of its own digits, so that no
 * amount is rounded; other numbers are as always.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // A reviver is slow, and hardly any answer has such a number.
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return (JSON.parse as Parse)(text, (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && INTEGER.test(source)
      ? BigInt(source)
      : value,
  );
}

/** Writes what `parseJson` has read, with every integer as it was. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? rawJson(each) : each));
}

/** A number of JSON with these digits. */
function rawJson(value: bigint): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  return rawJSON(value.toString());
}
