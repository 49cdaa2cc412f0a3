/**
 * Numbers that a double may not hold as they are written: those of 16 digits or more, and those so small that they
 * become zero. Every other one has the decimals of its double. A number follows one of these characters.
 */
const MAY_DIFFER = /[:,[]\s*-?(?:[\d.]{16}|[\d.]+[eE]-\d{3})/;

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/**
 * A reviver for `JSON.parse` that makes NaN, which no schema takes, of a number that has more decimals than the double
 * which is read of it: `49.999999999999999999` is not 50. Undefined where `json` has no such number, since any
 * reviver makes parsing take ten times as long.
 */
export function reviverFor(json: string): Reviver | undefined {
  return MAY_DIFFER.test(json) ? refuseFiner : undefined;
}

const refuseFiner: Reviver = (_key, value, context) => {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return countDecimals(context.source) > countDecimals(String(value)) ? Number.NaN : value;
};

/** The decimals of a number without the zeros at its end; the exponent is not written out, whatever its size. */
function countDecimals(number: string): number {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  const digits = whole + fraction;
  let end = digits.length;
  // Not by a pattern, which would look at each run of zeros again from each of its digits.
  while (digits[end - 1] === '0') end -= 1;
  if (end === 0) return 0;
  return Math.max(0, end - whole.length - Number(exponent));
}
