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
 * Every part of the service, top down. A file may import from its own part and from those below it, so
 * this list is also the order in which to read the code from an entry to the database.
 */
const PARTS = [
  'entries',
  'src/cli/',
  'src/app.ts',
  'src/runtime/',
  'src/development/',
  'src/worker/',
  'src/docs/',
  'src/routes/',
  'src/panel/',
  'src/checkout/page/',
  'src/pages/',
  'src/http/',
  'src/client/',
  'src/checkout/',
  'src/legacy/',
  'src/accounting/',
  'src/partners/',
  'src/evidence/',
  'src/watching/audit/',
  'src/watching/operate/',
  'src/watching/look-up/',
  'src/watching/loop/',
  'src/watching/',
  'src/settlement/',
  'src/processors/',
  'src/webhooks/',
  'src/payments/',
  'src/rates/',
  'src/panel/access/',
  'src/requests/',
  'src/keys/',
  'src/panel/people/',
  'src/accounts/',
  'src/mail/',
  'src/audit/',
  'src/chains/',
  'src/nodes/',
  'src/telemetry/',
  'src/signing/',
  'src/repositories/',
  'src/database/',
  'src/config/',
  'src/crypto/',
  'src/errors/',
  'src/outbound/',
  'src/time/',
  'schemas/',
  'migrations/',
] as const;
type Part = (typeof PARTS)[number];

const ENTRIES = ['src/server.ts', 'src/worker.ts', 'src/cli.ts'];

/** What the service decides: no HTTP, no SQL. */
const DECISIONS = PARTS.slice(PARTS.indexOf('src/checkout/'), PARTS.indexOf('src/telemetry/'));

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

function partOf(file: string): Part {
  if (ENTRIES.includes(file)) return 'entries';
  // Subfolders may be parts of their own.
  const [part] = PARTS.filter(path => file.startsWith(path)).toSorted(
    (a, b) => b.length - a.length,
  );
  if (part === undefined) throw new Error(`${file} belongs to no part of PARTS`);
  return part;
}

const depthOf = (file: string) => PARTS.indexOf(partOf(file));

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
  test('from the entries down to the database, in the order of PARTS', () => {
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

test('CONTRIBUTING lists every part in this order, and each has files', () => {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const listed = [...text.matchAll(/^((?:src\/\S+|schemas\/|migrations\/)) +\S/gm)].map(
    ([, path = '']) => path,
  );
  expect(listed).toEqual(['src/server.ts', ...PARTS.slice(1)]);
  const used = new Set(files.map(partOf));
  expect(PARTS.filter(part => !used.has(part))).toEqual([]);
});

test('schemas/ imports TypeBox only', () => {
  expect(strangers(['schemas/'], ['schemas/', '@sinclair/typebox'])).toEqual([]);
});

test("the panel's texts know nothing but markup", () => {
  expect(strangers(['src/panel/texts/'], ['src/panel/texts/', 'src/pages/html.ts'])).toEqual([]);
});

test('migrations/ imports Kysely only, so that a step stays what it was', () => {
  expect(strangers(['migrations/'], ['kysely'])).toEqual([]);
});

test('errors/, time/, crypto/, config/ and outbound/ are leaves', () => {
  const leaves = ['src/errors/', 'src/time/', 'src/crypto/', 'src/config/', 'src/outbound/'];
  const reached = strangers(leaves, [...leaves, 'schemas/']);
  expect(reached.filter(line => line.includes('→ src/'))).toEqual([]);
});

test('repositories/ and database/ decide nothing', () => {
  const allowed = [
    ...['src/repositories/', 'src/database/', 'schemas/'],
    // The configuration checks the URL that the connection takes apart.
    'src/config/server-urls.ts',
    'src/config/database-tls.ts',
  ];
  const below = strangers(['src/repositories/', 'src/database/'], allowed);
  expect(below.filter(line => line.includes('→ src/'))).toEqual([]);
});

test.each([
  ['client', 'src/client/index.ts', ['src/client/', 'src/signing/', 'schemas/event-types.ts']],
  [
    "client's mp",
    'src/cli/client/main.ts',
    [
      ...['src/cli/client/', 'src/cli/named-file.ts', 'src/cli/print.ts', 'src/cli/terminal.ts'],
      ...['src/client/', 'src/signing/', 'src/errors/', 'schemas/event-types.ts'],
      // Loaded by `mp mcp` alone, which says how to install it.
      '@modelcontextprotocol/server',
    ],
  ],
])('the %s takes along neither packages nor what only the service needs', (_, entry, allowed) => {
  const reached = new Set([entry]);
  for (const file of reached) {
    const next = imports.filter(({ from, typeOnly }) => from === file && !typeOnly);
    for (const { to } of next) reached.add(to);
  }
  const taken = [...reached].filter(to => isFile(to) || !to.startsWith('node:'));
  expect(taken.filter(to => !allowed.some(path => to.startsWith(path)))).toEqual([]);
});

test('what the service decides and keeps knows nothing of Fastify', () => {
  const parts: readonly Part[] = [
    ...DECISIONS,
    'src/signing/',
    'src/repositories/',
    'src/database/',
  ];
  const http = imports.filter(
    ({ from, to }) => parts.includes(partOf(from)) && /^@?fastify\b/.test(to),
  );
  expect(http.map(show)).toEqual([]);
});

test('what a request holds has the types of its schemas, and is never cast', () => {
  const cast = /\b(params|query|body)\)? as (?!const\b)/;
  const handlers = files.filter(file => /^src\/(routes|panel|checkout|docs|http)\//.test(file));
  const casting = handlers.filter(file => {
    const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^ *(\*|\/\/).*/gm, '');
    return cast.test(code);
  });
  expect(casting).toEqual([]);
});

test('SQL is written in repositories/ and database/ only', () => {
  const parts: readonly Part[] = [
    ...DECISIONS,
    'src/app.ts',
    'src/docs/',
    'src/routes/',
    'src/http/',
    'src/signing/',
    'src/telemetry/',
  ];
  const writers = imports.filter(
    ({ from, to }) => parts.includes(partOf(from)) && /^(kysely|pg)\b/.test(to),
  );
  expect(writers.map(show)).toEqual([]);
});

test('the root of src holds the entries and the application alone', () => {
  const loose = files.filter(file => /^src\/[^/]+$/.test(file));
  expect(loose.toSorted()).toEqual([...ENTRIES, 'src/app.ts'].toSorted());
});

test('no object literal is spread into another one, which lists the same in fewer lines', () => {
  const all = globSync('{src,test,bench,schemas,migrations,clients,deploy}/**/*.{ts,js,mjs,cjs}', {
    cwd: ROOT,
    exclude: ['clients/**/node_modules/**'],
  });
  // Written so that this file has none.
  const spreads = ['{', '({'].map(literal => '.'.repeat(3).concat(literal));
  const spreading = all.filter(file => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return spreads.some(spread => text.includes(spread));
  });
  expect(spreading).toEqual([]);
});
