import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, writeJson } from '#chains/nodes/parse-json.ts';

test('integers that a double cannot hold are bigints, digit by digit', () => {
  const text =
    '{"amount":9007199254740993,"list":[-9223372036854775808, 18446744073709551615],"n":1}';
  expect(parseJson(text)).toEqual({
    amount: 9_007_199_254_740_993n,
    list: [-9_223_372_036_854_775_808n, 18_446_744_073_709_551_615n],
    n: 1,
  });
});

test('everything else is parsed as by JSON.parse', () => {
  const texts = [
    '"9007199254740993"',
    '{"a":"x:9007199254740993","b":9007199254740991,"c":1.7976931348623157e308}',
    '[1234567890123456.5,1e30]',
  ];
  for (const text of texts) expect(parseJson(text)).toEqual(JSON.parse(text));
  expect(() => parseJson('[12345678901234567890')).toThrow(SyntaxError);
});

test('serialised values are parsed to the same values', () => {
  const value = fc.letrec(tie => ({
    any: fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.maxSafeInteger(),
      fc.bigInt(2n ** 53n, 2n ** 200n),
      fc.bigInt(-(2n ** 200n), -(2n ** 53n)),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(
        fc.string().filter(key => key !== '__proto__'),
        tie('any'),
        { maxKeys: 4 },
      ),
    ),
  })).any;
  fc.assert(
    fc.property(value, drawn => {
      expect(parseJson(writeJson({ drawn }))).toEqual({ drawn });
    }),
  );
});
