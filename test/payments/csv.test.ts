import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CsvCell, csvHeader, csvRows } from '../../src/payments/csv.ts';

const COLUMNS = [
  { title: 'cell', cell: (row: CsvCell) => row },
  { title: 'next', cell: () => 1 },
];
const write = (value: CsvCell) => csvRows(COLUMNS, [value]);

test.each<[CsvCell, string]>([
  ['plain', '"plain"'],
  ['', '""'],
  [null, ''],
  [0, '0'],
  [-5, '-5'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\rlines', '"two\rlines"'],
  ['x\n=1+1', '"x\n=1+1"'],
  ['\n=1+1', `"'\n=1+1"`],
  ['\r@SUM(A1)', `"'\r@SUM(A1)"`],
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
  [' =1', `"' =1"`],
  ['＝1', `"'＝1"`],
])('%j is written as %j', (value, written) => {
  expect(write(value)).toBe(`${written},1\r\n`);
});

test('titles are text like any other', () => {
  expect(csvHeader(COLUMNS)).toBe('"cell","next"\r\n');
});

test('any text stays in one cell, and no line of it begins the next row', () => {
  const text = fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '=', '+', "'", 'a', ' ') });
  fc.assert(
    fc.property(text, value => {
      const line = write(value);
      // Without what is in quotes nothing but the row's own commas and end is left.
      expect(line.replaceAll(/"(?:[^"]|"")*"/g, '')).toBe(',1\r\n');
      const cell = line.slice(1, line.lastIndexOf('",1')).replaceAll('""', '"');
      expect([value, `'${value}`]).toContain(cell);
      expect(cell).not.toMatch(/^\s*[=+]/);
    }),
  );
});
