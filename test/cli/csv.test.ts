import { expect, test } from 'vitest';
import { csvLine } from '../../src/cli/csv.ts';

test.each<[unknown, string]>([
  ['plain', 'plain'],
  [null, ''],
  [undefined, ''],
  [-5, '-5'],
  [true, 'true'],
  [new Date(Date.UTC(2026, 4, 17)), '2026-05-17T00:00:00.000Z'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("https://evil.example")', `"'=HYPERLINK(""https://evil.example"")"`],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
])('%j is written as %j', (value, written) => {
  expect(csvLine([value, 1])).toBe(`${written},1\r\n`);
});
