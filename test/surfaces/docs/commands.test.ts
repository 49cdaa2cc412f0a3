import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
const FILES = globSync(
  ['*.md', '*.yaml', 'Dockerfile', '{src,schemas,migrations,test,deploy,clients}/**/*.*'],
  { cwd: ROOT, exclude: ['**/node_modules/**'] },
);

test('no text runs npx on mp without --no, which would install a package of that name', () => {
  expect(FILES.length).toBeGreaterThan(500);
  const unsafe = FILES.filter(file =>
    /\bnpx\s+mp\b/.test(readFileSync(resolve(ROOT, file), 'utf8')),
  );
  expect(unsafe).toEqual([]);
});

test('after npx --no, flags of mp itself follow two dashes, or npx takes them', () => {
  const taken = FILES.filter(file =>
    /\bnpx --no mp\s+--?\w/.test(readFileSync(resolve(ROOT, file), 'utf8')),
  );
  expect(taken).toEqual([]);
});
