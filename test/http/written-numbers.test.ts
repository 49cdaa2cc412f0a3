import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseBody } from '#http/json-body.ts';
import { BODY_LIMIT_BYTES } from '#http/raw-body.ts';
import { createAjv } from '#http/validation.ts';
import { toCents } from '#payments/dollars.ts';
import {
  AMOUNT_MAXIMUM_CENTS,
  AMOUNT_MINIMUM_CENTS,
  CreatePaymentBodySchema,
} from '#schemas/create-payment.ts';

const isBody = createAjv().compile<{ amount: number }>(CreatePaymentBodySchema);

const parse = (json: string) => {
  const headers = { 'content-type': 'application/json' };
  return parseBody({ headers, rawBody: Buffer.from(json) });
};
/** The cents that v1 reads from a body; undefined if it refuses the body. */
const readCents = (json: string) => {
  const body = parse(json);
  return isBody(body) ? body.amount : undefined;
};
/** The same for the older contract, without its limits. */
const readDollars = (json: string) => toCents((parse(json) as { amount: number }).amount);

/** The number times 10 to the power of `shift`, computed from its text; undefined unless it is an integer. */
function scaled(text: string, shift: number): bigint | undefined {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole.replace('-', '') + fraction) * (text.startsWith('-') ? -1n : 1n);
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(shift);
  if (digits === 0n) return 0n;
  if (power >= 0n) return digits * 10n ** power;
  return digits % 10n ** -power === 0n ? digits / 10n ** -power : undefined;
}

const within = (cents: bigint | undefined) =>
  cents !== undefined && cents >= AMOUNT_MINIMUM_CENTS && cents <= AMOUNT_MAXIMUM_CENTS
    ? Number(cents)
    : undefined;

const digits = (maxLength: number) =>
  fc.oneof(
    fc.stringMatching(new RegExp(`^[0-9]{0,${maxLength}}$`)),
    // Near an integer from either side, or exactly one.
    fc
      .tuple(fc.constantFrom('0', '9'), fc.nat(maxLength), fc.constantFrom('', '1', '8'))
      .map(([digit, count, last]) => digit.repeat(count) + last),
  );
const decimal = fc
  .record({
    sign: fc.constantFrom('', '', '', '-'),
    whole: fc.oneof(
      fc.integer({ min: 0, max: 2 * AMOUNT_MAXIMUM_CENTS }).map(String),
      fc.constantFrom('0', '49', '50', '99999999', '100000000', '9007199254740993'),
    ),
    fraction: digits(30),
    exponent: fc.oneof(
      fc.constant(''),
      fc
        .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.nat(12))
        .map(parts => parts.join('')),
    ),
  })
  .map(({ sign, whole, fraction, exponent }) =>
    [sign, whole, fraction === '' ? '' : `.${fraction}`, exponent].join(''),
  );

test('a decimal is accepted as cents if it is an integer, and as dollars if it has at most two decimals', () => {
  const taken = { cents: 0, dollars: 0 };
  fc.assert(
    fc.property(decimal, text => {
      const cents = within(scaled(text, 0));
      expect(readCents(`{"amount":${text}}`)).toBe(cents);
      const dollars = within(scaled(text, 2));
      const read = readDollars(`{ "amount" :\n${text} }`);
      expect(within(read === undefined ? undefined : BigInt(read))).toBe(dollars);
      if (cents !== undefined) taken.cents += 1;
      if (dollars !== undefined) taken.dollars += 1;
    }),
    { numRuns: 2_000 },
  );
  expect(Math.min(taken.cents, taken.dollars)).toBeGreaterThan(20);
});

test.each([
  ['99999999.999999999', undefined],
  ['49.999999999999999999', undefined],
  ['100000000.0000000001', undefined],
  ['50.00000000000000000000', 50],
  ['5000000000000000000000e-20', 50],
  ['0.00000000000000000000005e24', 50],
  ['1e3', 1000],
  ['50.0', 50],
  ['1e-400', undefined],
  ['1e400', undefined],
  ['1e999999999', undefined],
  ['1e-999999999', undefined],
])('cents written %s are %s', (text, cents) => {
  expect(readCents(`{"amount":${text}}`)).toBe(cents);
});

test.each([
  ['the last of two', '{"amount":1,"amount":49.999999999999999999}', undefined],
  ['the last of two, whatever the first', '{"amount":49.999999999999999999,"amount":50}', 50],
  ['one whose name is escaped', '{"am\\u006funt":49.999999999999999999}', undefined],
  ['one beside a text of digits', '{"note":":49.999999999999999999","amount":50}', 50],
])('the amount that is read is %s', (_, json, cents) => {
  expect(readCents(json)).toBe(cents);
});

test('a number is parsed as it is written, anywhere', () => {
  const json = '{"a":[0.1,[1e23,{"b":1.99999999999999999}]],"c":-0,"d":1e-400,"e":0e-400}';
  expect(parse(json)).toEqual({
    a: [0.1, [1e23, { b: Number.NaN }]],
    c: -0,
    d: Number.NaN,
    e: 0,
  });
});

test('a body that is one long number takes no longer than others', () => {
  const room = BODY_LIMIT_BYTES - 100;
  const zeros = '0'.repeat(room);
  for (const text of [`50.${zeros}1`, `5e-${'9'.repeat(room)}`, `1e${'9'.repeat(room)}`]) {
    expect(readCents(`{"amount":${text}}`)).toBeUndefined();
  }
  expect(readCents(`{"amount":50.${zeros}}`)).toBe(50);
});
