import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { STYLED_ATTRIBUTES } from './accessible.ts';

const SOURCES = join(import.meta.dirname, '../../src');

test('kinds of elements differ by every attribute that a style sheet selects', async () => {
  const files = await readdir(SOURCES, { recursive: true });
  const sheets = files.filter(file => file.endsWith('.css'));
  expect(sheets.length).toBeGreaterThan(5);
  const texts = await Promise.all(sheets.map(file => readFile(join(SOURCES, file), 'utf8')));
  const asked = texts.flatMap(text => [...text.matchAll(/\[([a-z-]+)[\]=~|^$*]/g)]);
  expect([...new Set(asked.map(([, name]) => name))].toSorted()).toEqual(
    STYLED_ATTRIBUTES.filter(name => name !== 'disabled'),
  );
  // As a pseudo-class.
  expect(texts.join()).toMatch(/:disabled/);
});
