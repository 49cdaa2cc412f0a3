import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { factsOf } from '#surfaces/docs/facts.ts';
import { fillFacts, GUIDE_GROUPS, readGuides } from '#surfaces/docs/guides/index.ts';
import { defineErrorLinks } from '#surfaces/docs/write-markdown.ts';

const FOLDER = resolve(import.meta.dirname, '../../../src/surfaces/docs/guides');
const FILES = globSync('**/*.md', { cwd: FOLDER });
const SETTINGS = {
  publicUrl: 'https://pay.example.test',
  panelUrl: null,
  simulation: false,
  rateLimitMax: 60,
  rateLimitWindowSeconds: 60,
  legacyDeprecation: null,
  legacySunset: null,
  retentionDays: 90,
  client: undefined,
};

test('every file is listed once', () => {
  const listed = GUIDE_GROUPS.flatMap(({ slugs }) => slugs.map(slug => `${slug}.md`));
  expect(listed.toSorted()).toEqual(FILES.toSorted());
});

describe.each(FILES)('%s', file => {
  const text = readFileSync(resolve(FOLDER, file), 'utf8');

  test('links to files and headings that exist, for readers of the repository', () => {
    for (const [, path = '', fragment] of text.matchAll(/\]\(([\w./-]+\.md)(?:#([\w-]+))?\)/g)) {
      const target = resolve(FOLDER, file, '..', path);
      expect(existsSync(target), path).toBe(true);
      const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.+)$/gm)].map(
        ([, heading = '']) =>
          heading
            .toLowerCase()
            .replace(/[^\w\s-]/g, '')
            .replaceAll(' ', '-'),
      );
      if (fragment !== undefined) expect(headings, path).toContain(fragment);
    }
  });

  test('links to generated pages only by paths of the site', () => {
    const paths = [...text.matchAll(/\]\((\/[^)]*)\)/g)].map(([, path]) => path);
    for (const path of paths) expect(path).toMatch(/^\/docs\/(reference|errors)(#[\w-]+)?$/);
  });
});

describe('facts', () => {
  const facts = factsOf(SETTINGS);

  test('fill every placeholder, and each is used', () => {
    const guides = readGuides(facts).flatMap(group => group.pages);
    for (const { markdown } of guides) expect(markdown).not.toContain('{{');
  });

  test('an unused fact stops the start', () => {
    expect(() => readGuides({ ...facts, spare: 1 })).toThrow('No guide uses the facts spare.');
  });

  test('a placeholder without a fact stops the start', () => {
    const { 'nonce.max': _left, ...others } = facts;
    expect(() => readGuides(others)).toThrow('There is no fact for {{nonce.max}}.');
    expect(() => fillFacts('{{toString}}', facts, new Set())).toThrow('{{toString}}');
  });

  test('an unknown error code stops the start', () => {
    expect(() => defineErrorLinks('[E0000]')).toThrow('There is no error E0000.');
  });
});
