/**
 * Numbers that may lose digits as a double: those of 16 digits or more, and those so small that they become zero. All
 * others have the decimals of their double. A number follows `:`, `,` or `[`.
 */
const MAY_DIFFER = /[:,[]\s*-?(?:[\d.]{16}|[\d.]+[eE]-\d{3})/;

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/**
 * A reviver for `JSON.parse` that turns a number with more decimals than its double into NaN, which no schema
 * accepts: `49.999999999999999999` is not 50. Undefined if `json` has no such number, since any reviver makes parsing
 * take ten times as long.
 */
export function reviverFor(json: string): Reviver | undefined {
  return MAY_DIFFER.test(json) ? refuseFiner : undefined;
}

const refuseFiner: Reviver = (_key, value, context) => {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return countDecimals(context.source) > countDecimals(String(value)) ? Number.NaN : value;
};

/** Counts a number's decimals without trailing zeros. The exponent, which may be huge, is not expanded. */
function countDecimals(number: string): number {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const digits = whole + fraction;
  let end = digits.length;
  // Not by a regular expression, which would scan each run of zeros again from each of its digits.
  while (digits[end - 1] === '0') end -= 1;
  if (end === 0) return 0;
  return Math.max(0, end - whole.length - Number(exponent));
}
