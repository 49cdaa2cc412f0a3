import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CsvCell, csvHeader, csvRows } from '#payments/csv.ts';

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
  ['x;=1+1;y', `"x;'=1+1;y"`],
  ['x; -1;@y', `"x;' -1;'@y"`],
  ['x;"=1+1;y', `"x;'""=1+1;y"`],
  ['x;y=1+1', '"x;y=1+1"'],
  ['x\t=1+1', `"x\t'=1+1"`],
  ['x\n=1+1', `"x\n'=1+1"`],
  ['x\r\n \n=1+1', `"x\r\n \n'=1+1"`],
  ['\n=1+1', `"'\n'=1+1"`],
  ['\r@SUM(A1)', `"'\r'@SUM(A1)"`],
  ['\nx', `"'\nx"`],
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ['+1', `"'+1"`],
  ['-1', `"'-1"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t'=1"`],
  [' =1', `"' =1"`],
  ['＝1', `"'＝1"`],
])('%j is written as %j', (value, written) => {
  expect(write(value)).toBe(`${written},1\r\n`);
});

test('titles are escaped like any other text', () => {
  expect(csvHeader(COLUMNS)).toBe('"cell","next"\r\n');
});

const text = fc.string({
  unit: fc.constantFrom('"', ',', ';', '\t', '\r', '\n', '=', '+', "'", 'a', ' '),
});

test('any text stays in one cell, and no line of it starts another row', () => {
  fc.assert(
    fc.property(text, value => {
      const line = write(value);
      // Without quoted parts, only the row's own commas and line end are left.
      expect(line.replaceAll(/"(?:[^"]|"")*"/g, '')).toBe(',1\r\n');
      const cell = line.slice(1, line.lastIndexOf('",1')).replaceAll('""', '"');
      // Only apostrophes are added.
      expect(cell.replaceAll("'", '')).toBe(value.replaceAll("'", ''));
      expect(cell).not.toMatch(/^\s*[=+]/);
    }),
  );
});

/**
 * Cells as a spreadsheet with another list separator parses them: quotes count at the beginning of a cell, and text
 * after the closing quote is appended unchanged.
 */
function cellsOf(file: string, separator: string): string[] {
  const cell = new RegExp(
    `(?:"((?:[^"]|"")*)(?:"|$))?([^${separator}\r\n]*)(?:[${separator}\r\n]|$)`,
    'y',
  );
  const cells: string[] = [];
  while (cell.lastIndex < file.length) {
    const [, quoted = '', rest = ''] = cell.exec(file) ?? [];
    cells.push(quoted.replaceAll('""', '"') + rest);
  }
  return cells;
}

test.each([',', ';', '\t'])('no reader whose separator is %j sees a formula', separator => {
  expect(cellsOf('"a";"x""y"z;=1\r\n', ';')).toEqual(['a', 'x"yz', '=1', '']);
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), values => {
      const columns = values.map((value, index) => ({ title: `${index}`, cell: () => value }));
      for (const cell of cellsOf(csvRows(columns, [null]), separator)) {
        expect(cell).not.toMatch(/^\s*[=+]/);
      }
    }),
  );
});
