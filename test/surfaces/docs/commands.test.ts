import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { mpHere } from '../../cli/mp.ts';

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

test('every command of mp that a guide names exists', async () => {
  const guides = globSync('src/surfaces/docs/guides/**/*.md', { cwd: ROOT });
  const text = guides.map(file => readFileSync(resolve(ROOT, file), 'utf8')).join('\n');
  // In code alone: elsewhere a sentence may go on after a noun.
  const code = [...text.matchAll(/`[^`\n]+`|^```sh\n.*?^```/gms)].join('\n');
  const named = [...code.matchAll(/\bmp ([a-z]+(?:-[a-z]+)*) ([a-z]+(?:-[a-z]+)*)\b/g)];
  const verbs = Map.groupBy(named, ([, noun = '']) => noun);
  expect(verbs.size).toBeGreaterThan(15);
  const missing: string[] = [];
  for (const [noun, uses] of verbs) {
    const { out } = await mpHere([noun, '--help']);
    const [, commands] = out.split('\nCommands:\n');
    if (out === '') missing.push(noun);
    if (commands === undefined) continue;
    for (const [, , verb = ''] of uses) {
      if (!new RegExp(`^ +${verb}\\b`, 'm').test(commands)) missing.push(`${noun} ${verb}`);
    }
  }
  expect(missing).toEqual([]);
});
