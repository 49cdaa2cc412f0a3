import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);
const GUIDE = readFileSync(new URL('src/surfaces/docs/guides/operating/asvs.md', ROOT), 'utf8');

/**
 * The requirements of levels 1 and 2, one section per line. Source: https://github.com/OWASP/ASVS, tag
 * v5.0.0_release, files 0x12-V3, 0x15-V6, 0x16-V7, 0x17-V8 and 0x25-V16 of 5.0/en.
 */
const REQUIREMENTS = [
  ...['3.2.1', '3.2.2'],
  ...['3.3.1', '3.3.2', '3.3.3', '3.3.4'],
  ...['3.4.1', '3.4.2', '3.4.3', '3.4.4', '3.4.5', '3.4.6'],
  ...['3.5.1', '3.5.2', '3.5.3', '3.5.4', '3.5.5'],
  ...['3.7.1', '3.7.2'],
  ...['6.1.1', '6.1.2', '6.1.3'],
  ...['6.2.1', '6.2.2', '6.2.3', '6.2.4', '6.2.5', '6.2.6', '6.2.7', '6.2.8', '6.2.9'],
  ...['6.2.10', '6.2.11', '6.2.12'],
  ...['6.3.1', '6.3.2', '6.3.3', '6.3.4'],
  ...['6.4.1', '6.4.2', '6.4.3', '6.4.4'],
  ...['6.5.1', '6.5.2', '6.5.3', '6.5.4', '6.5.5'],
  ...['6.6.1', '6.6.2', '6.6.3'],
  ...['6.8.1', '6.8.2', '6.8.3', '6.8.4'],
  ...['7.1.1', '7.1.2', '7.1.3'],
  ...['7.2.1', '7.2.2', '7.2.3', '7.2.4'],
  ...['7.3.1', '7.3.2'],
  ...['7.4.1', '7.4.2', '7.4.3', '7.4.4', '7.4.5'],
  ...['7.5.1', '7.5.2'],
  ...['7.6.1', '7.6.2'],
  ...['8.1.1', '8.1.2'],
  ...['8.2.1', '8.2.2', '8.2.3'],
  '8.3.1',
  '8.4.1',
  '16.1.1',
  ...['16.2.1', '16.2.2', '16.2.3', '16.2.4', '16.2.5'],
  ...['16.3.1', '16.3.2', '16.3.3', '16.3.4'],
  ...['16.4.1', '16.4.2', '16.4.3'],
  ...['16.5.1', '16.5.2', '16.5.3'],
];

/** Rows of the tables of requirements: the number, and the cells after it. */
const ROWS = [...GUIDE.matchAll(/^\| \*\*([\d.]+)\*\* ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, number = '', asks = '', answer = '', where = '']) => ({ number, asks, answer, where }),
);

const MARKS = ['Falls short', 'In part', 'Operator', 'Not applicable'];

test('every requirement is answered once, in the standard’s order', () => {
  expect(ROWS.map(({ number }) => number)).toEqual(REQUIREMENTS);
  const mentioned = GUIDE.match(/^\| \*\*/gm);
  expect(mentioned).toHaveLength(ROWS.length);
});

test('every answer names files, and each of them exists', () => {
  for (const { number, where } of ROWS) expect(where, number).toMatch(/^`[^`]+`(, `[^`]+`)*$/);
  const paths = ROWS.flatMap(({ where }) => where.match(/[^`, ]+/g) ?? []);
  for (const path of new Set(paths)) expect(existsSync(new URL(path, ROOT)), path).toBe(true);
});

test('the page starts with what falls short in the tables', () => {
  const [, list = ''] = GUIDE.split('\n## What falls short\n');
  const [beginning = ''] = list.split('\n## ');
  const listed = [...beginning.matchAll(/^- \*\*([\d.]+)\*\* /gm)].map(([, number]) => number);
  const marked = ROWS.flatMap(({ number, answer }) => {
    const [, mark] = /^\*\*([^*]+):\*\* /.exec(answer) ?? [];
    if (mark !== undefined) expect(MARKS, number).toContain(mark);
    return mark === undefined || mark === 'Not applicable' ? [] : [number];
  });
  expect(listed).toEqual(marked);
});
