import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseQueryString } from '#http/query-string.ts';

const texts = fc.string({ unit: 'binary' }).map(text => text.toWellFormed());
const pairs = fc.array(fc.tuple(texts, texts));

/** The meaning of a list of pairs: a value, or a list if a name is repeated. */
function grouped(list: readonly (readonly [string, string])[]) {
  const query: Record<string, string | string[]> = Object.create(null);
  for (const [name, values] of Map.groupBy(list, ([name]) => name)) {
    const all = values.map(([, value]) => value);
    const [only = ''] = all;
    query[name] = all.length === 1 ? only : all;
  }
  return query;
}

test('reads what URLSearchParams writes', () => {
  fc.assert(
    fc.property(pairs, list => {
      const text = new URLSearchParams(list).toString();
      expect(parseQueryString(text)).toEqual(grouped(list));
    }),
  );
});

test('reads what encodeURIComponent writes', () => {
  const named = fc.array(
    fc.tuple(
      texts.filter(text => text !== ''),
      texts,
    ),
  );
  fc.assert(
    fc.property(named, list => {
      const text = list.map(pair => pair.map(encodeURIComponent).join('=')).join('&');
      expect(parseQueryString(text)).toEqual(grouped(list));
    }),
  );
});

test('never throws, and never decodes broken encoding as text', () => {
  const broken = fc.constantFrom('%', '%f', '%ff', '%zz', '%c3%28', '%ed%a0%80', '%u0041');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => void parseQueryString(text)));
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '+', '=') }), broken, (start, end) => {
      expect(parseQueryString(`a=${start}${end}`)).toEqual({ a: null });
      expect(parseQueryString(`a=1&a=${end}`)).toEqual({ a: ['1', null] });
    }),
  );
});

test.each([
  ['', {}],
  ['&&', {}],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['=', { '': '' }],
  ['a=b=c', { a: 'b=c' }],
  ['a=1&&b=2&', { a: '1', b: '2' }],
  ['a=%2B+b%20c', { a: '+ b c' }],
  ['a=1&a=2&a', { a: ['1', '2', ''] }],
  ['a[]=1&a[b]=2', { 'a[]': '1', 'a[b]': '2' }],
  ['a=1;b=2', { a: '1;b=2' }],
  ['%ff=1', { '%ff': '1' }],
  ['%61=1', { a: '1' }],
])('%s', (text, expected) => {
  expect(parseQueryString(text)).toEqual(expected);
});

test('names of object properties are ordinary names', () => {
  const query = parseQueryString('__proto__=1&constructor=2&toString=3&__proto__=4');
  expect(Object.getPrototypeOf(query)).toBeNull();
  expect(Object.entries(query)).toEqual([
    ['__proto__', ['1', '4']],
    ['constructor', '2'],
    ['toString', '3'],
  ]);
});
