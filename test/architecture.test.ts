import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

interface Import {
  /** Path of the importing file below the root. */
  readonly from: string;
  /** Path of the imported file below the root, or a package's or built-in module's name. */
  readonly to: string;
  /** Whether the import is gone when the file runs. */
  readonly typeOnly: boolean;
}

/**
 * The layers, the entries on top, each with the paths that belong to it. A file may import from its
 * own layer and from those below. Every folder of src/ that is not named is something the service
 * decides, every file beside the folders an entry.
 */
const LAYERS: readonly (readonly [name: string, paths: readonly string[]])[] = [
  ['entries', ['src/cli/']],
  ['app', ['src/app.ts']],
  ['routes', ['src/routes/']],
  ['plugins', ['src/plugins/']],
  ['decisions', []],
  ['repositories', ['src/repositories/']],
  ['database', ['src/database/']],
  [
    'leaves',
    [
      'schemas/',
      'src/errors/',
      'src/clock.ts',
      'src/config.ts',
      'src/config-reader.ts',
      'src/config-values.ts',
      'src/date-bound.ts',
      'src/gather.ts',
      'src/trace-context.ts',
      'src/metrics/',
    ],
  ],
];

const files = globSync(['src/**/*.ts', 'schemas/**/*.ts', 'migrations/**/*.ts'], { cwd: ROOT });
const imports = files.flatMap(readImports);

/** Every import of a file: static, type-only, re-exported, for side effects, and dynamic. */
function readImports(from: string): Import[] {
  const text = readFileSync(join(ROOT, from), 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export)\b(?<type> type\b)?[^;'"]*?from '(?<to>[^']+)'/gm),
    ...text.matchAll(/^import '(?<to>[^']+)'/gm),
    ...text.matchAll(/\bimport\('(?<to>[^']+)'\)/g),
  ];
  return found.map(({ groups = {} }) => ({
    from,
    to: resolveImport(from, groups.to ?? ''),
    typeOnly: groups.type !== undefined,
  }));
}

function resolveImport(from: string, specifier: string): string {
  if (specifier.startsWith('#schemas/')) return specifier.slice(1);
  if (!specifier.startsWith('.')) return specifier;
  return relative(ROOT, join(ROOT, dirname(from), specifier));
}

const isFile = (name: string) => files.includes(name);
const show = ({ from, to }: Import) => `${from} → ${to}`;

function layerOf(file: string): string {
  const named = LAYERS.find(([, paths]) => paths.some(path => file.startsWith(path)));
  if (named !== undefined) return named[0];
  return file.split('/').length > 2 ? 'decisions' : 'entries';
}

const depthOf = (file: string) => LAYERS.findIndex(([name]) => name === layerOf(file));

/** The first cycle that starts with `file`, if there is one. */
function findCycle(file: string, done: Set<string>, path: readonly string[] = []): string[] {
  const start = path.indexOf(file);
  if (start !== -1) return [...path.slice(start), file];
  if (done.has(file)) return [];
  for (const { to } of imports.filter(({ from, to }) => from === file && isFile(to))) {
    const cycle = findCycle(to, done, [...path, file]);
    if (cycle.length > 0) return cycle;
  }
  done.add(file);
  return [];
}

test('every import is found, and every file that is imported is there', () => {
  const lines = files
    .map(file => readFileSync(join(ROOT, file), 'utf8'))
    .flatMap(text => text.match(/^(import|export|\}) .*from '[^']+';$/gm) ?? []);
  expect(lines.length).toBeGreaterThan(300);
  expect(imports.length).toBeGreaterThanOrEqual(lines.length);
  const missing = imports.filter(({ to }) => to.endsWith('.ts') && !isFile(to));
  expect(missing.map(show)).toEqual([]);
});

describe('imports point one way', () => {
  test('from the entries down to the database and the leaves', () => {
    const back = imports.filter(({ from, to }) => isFile(to) && depthOf(to) < depthOf(from));
    expect(back.map(show)).toEqual([]);
  });

  test('and never in a circle', () => {
    const done = new Set<string>();
    const cycles = files.map(file => findCycle(file, done)).filter(cycle => cycle.length > 0);
    const distinct = Map.groupBy(cycles, cycle => [...new Set(cycle)].toSorted().join());
    expect([...distinct.values()].map(([cycle = []]) => cycle.join(' → '))).toEqual([]);
  });
});

/** Imports of the files below the paths that fit none of the allowed beginnings. */
function strangers(paths: readonly string[], allowed: readonly string[]): string[] {
  return imports
    .filter(({ from }) => paths.some(path => from.startsWith(path)))
    .filter(({ to }) => !allowed.some(start => to.startsWith(start)))
    .map(show);
}

test('schemas/ imports TypeBox only', () => {
  expect(strangers(['schemas/'], ['schemas/', '@sinclair/typebox'])).toEqual([]);
});

test('migrations/ imports Kysely only, so that a step stays what it was', () => {
  expect(strangers(['migrations/'], ['kysely'])).toEqual([]);
});

test('errors/ imports nothing of the service but schemas/', () => {
  const errors = strangers(['src/errors/'], ['src/errors/', 'schemas/', 'fastify']);
  expect(errors).toEqual([]);
});

test('metrics/ is plain numbers, and what is scraped is made of them in monitoring/ alone', () => {
  expect(strangers(['src/metrics/'], ['src/metrics/'])).toEqual([]);
  const scraped = imports.filter(({ to }) => to === 'prom-client');
  expect(scraped.filter(({ from }) => !from.startsWith('src/monitoring/')).map(show)).toEqual([]);
});

test('repositories/ and database/ decide nothing', () => {
  const allowed = ['src/repositories/', 'src/database/', 'src/gather.ts', 'schemas/'];
  const below = strangers(['src/repositories/', 'src/database/'], allowed);
  expect(below.filter(line => line.includes('→ src/'))).toEqual([]);
});

test('the client takes along neither packages nor what only the service needs', () => {
  const reached = new Set(['src/client/index.ts']);
  for (const file of reached) {
    const next = imports.filter(({ from, typeOnly }) => from === file && !typeOnly);
    for (const { to } of next) reached.add(to);
  }
  const taken = [...reached].filter(to => isFile(to) || !to.startsWith('node:'));
  const allowed = ['decisions', 'leaves'];
  expect(taken.filter(to => !isFile(to) || !allowed.includes(layerOf(to)))).toEqual([]);
});

test('what the service decides and keeps knows nothing of Fastify', () => {
  const layers = ['decisions', 'repositories', 'database'];
  const http = imports.filter(
    ({ from, to }) => layers.includes(layerOf(from)) && /^@?fastify\b/.test(to),
  );
  expect(http.map(show)).toEqual([]);
});

test('SQL is written in repositories/ and database/ only', () => {
  const layers = ['app', 'routes', 'plugins', 'decisions'];
  const writers = imports.filter(
    ({ from, to }) => layers.includes(layerOf(from)) && /^(kysely|pg)\b/.test(to),
  );
  expect(writers.map(show)).toEqual([]);
});
