import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const SUBPATHS: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
).imports;

interface Import {
  /** Path of the importing file below the root. */
  readonly from: string;
  /** Path of the imported file below the root, or a package's or built-in module's name. */
  readonly to: string;
  /** As written in the file. */
  readonly specifier: string;
  /** Whether the import is erased when the file runs. */
  readonly typeOnly: boolean;
}

/**
 * Every folder of the service, top down, and the parts of those that have several, where `./` is the folder's own
 * files. A file may import from its own part and from those below it, so this list is also the order in which to
 * read the code from an entry to the database.
 */
const FOLDERS = {
  'src/': [],
  'src/cli/': [],
  'src/worker/': [],
  'src/runtime/': ['./', 'development/'],
  'src/surfaces/': [
    ...['./', 'docs/', 'panel/', 'panel/kit/', 'panel/hooks/', 'panel/texts/'],
    ...['legacy/routes/', 'api/', 'checkout/page/', 'checkout/', 'legacy/', 'pages/'],
  ],
  'src/http/': [],
  'src/reports/': ['accounting/', 'partners/', 'evidence/'],
  'src/onchain/': [
    ...['watching/audit/', 'watching/operate/', 'watching/look-up/', 'watching/loop/'],
    ...['watching/', 'settlement/'],
  ],
  'src/payments/': ['processors/', 'webhooks/', './', 'rates/'],
  'src/accounts/': ['access/', 'requests/', 'keys/', 'people/', './', 'mail/', 'audit/'],
  'src/chains/': ['./', 'nodes/'],
  'src/telemetry/': [],
  'clients/javascript/': [],
  'src/signing/': [],
  'src/storage/': ['repositories/', 'database/'],
  'src/config/': [],
  'src/crypto/': [],
  'src/errors/': [],
  'src/outbound/': [],
  'src/time/': [],
  'schemas/': [],
  'migrations/': [],
} as const satisfies Record<string, readonly string[]>;

const PARTS = Object.entries<readonly string[]>(FOLDERS).flatMap(([folder, parts]) =>
  parts.length === 0 ? [folder] : parts.map(part => join(folder, part)),
);

const ENTRIES = ['src/server.ts', 'src/worker.ts', 'src/cli.ts'];

const files = globSync('{src,clients/javascript,schemas,migrations}/**/*.ts', { cwd: ROOT });
const imports = files.flatMap(readImports);

/** Every import of a file: static, type-only, re-exported, for side effects, and dynamic. */
function readImports(from: string): Import[] {
  const text = readFileSync(join(ROOT, from), 'utf8');
  const found = [
    ...text.matchAll(/^(?:import|export)\b(?<type> type\b)?[^;'"]*?from '(?<to>[^']+)'/gm),
    ...text.matchAll(/^import '(?<to>[^']+)'/gm),
    ...text.matchAll(/\bimport\('(?<to>[^']+)'\)/g),
  ];
  return found.map(({ groups = {} }) => {
    const specifier = groups.to ?? '';
    const typeOnly = groups.type !== undefined;
    return { from, to: resolveImport(from, specifier), specifier, typeOnly };
  });
}

/** A `#` specifier resolves to its folder, a relative path to the file next to this one. */
function resolveImport(from: string, specifier: string): string {
  if (specifier.startsWith('#')) {
    const [name = '', ...path] = specifier.split('/');
    return join(SUBPATHS[`${name}/*`]?.replace('/*', '') ?? specifier, ...path);
  }
  if (!specifier.startsWith('.')) return specifier;
  return relative(ROOT, join(ROOT, dirname(from), specifier));
}

const isFile = (name: string) => files.includes(name);
const show = ({ from, to }: Import) => `${from} → ${to}`;

/** The innermost part that contains a file. */
function partOf(file: string): string {
  const [part] = PARTS.filter(path => file.startsWith(path)).toSorted(
    (a, b) => b.length - a.length,
  );
  if (part === undefined) throw new Error(`${file} belongs to no part of PARTS`);
  return part;
}

const depthOf = (file: string) => PARTS.indexOf(partOf(file));

/** The key of FOLDERS that contains a file; for other files the first folder of their path. */
function folderOf(file: string): string {
  const [folder] = Object.keys(FOLDERS)
    .filter(path => file.startsWith(path))
    .toReversed();
  return folder ?? file.replace(/\/.*/, '/');
}

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

test('every import is found, and every imported file exists', () => {
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

  test('and never in a cycle', () => {
    const done = new Set<string>();
    const cycles = files.map(file => findCycle(file, done)).filter(cycle => cycle.length > 0);
    const distinct = Map.groupBy(cycles, cycle => [...new Set(cycle)].toSorted().join());
    expect([...distinct.values()].map(([cycle = []]) => cycle.join(' → '))).toEqual([]);
  });
});

/** Imports of the files below these paths that match none of the allowed prefixes. */
function strangers(paths: readonly string[], allowed: readonly string[]): string[] {
  return imports
    .filter(({ from }) => paths.some(path => from.startsWith(path)))
    .filter(({ to }) => !allowed.some(start => to.startsWith(start)))
    .map(show);
}

test('an import is relative within a folder, and a subpath from one to another', () => {
  const others = globSync('{test,bench}/**/*.ts', { cwd: ROOT }).flatMap(readImports);
  const withSubpath = Object.values(SUBPATHS).map(path => path.slice('./'.length, -'*'.length));
  const wrong = [...imports, ...others].filter(({ from, to, specifier }) => {
    const folder = folderOf(to);
    const leads = isFile(to) && withSubpath.includes(folder) && folderOf(from) !== folder;
    return leads !== specifier.startsWith('#');
  });
  expect(wrong.map(show)).toEqual([]);
});

test('the folders of src and their parts are these, and CONTRIBUTING lists them in this order', () => {
  const used = new Set(files.map(partOf));
  expect(PARTS.filter(part => !used.has(part))).toEqual([]);
  const inSource = files.flatMap(file => file.match(/^src\/\w+\//g) ?? []);
  expect(Object.keys(FOLDERS)).toEqual(expect.arrayContaining([...new Set(inSource)]));

  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const list = /^## Layout$.*?^```$(.*?)^```$/ms.exec(text)?.[1] ?? '';
  const listed = list.split(/^(?=\S)/m).filter(entry => entry.trim() !== '');
  expect(listed.map(entry => entry.split(' ')[0])).toEqual([
    'src/server.ts',
    ...Object.keys(FOLDERS).slice(1),
  ]);
  const parts = listed.map(entry => entry.match(/(?<=\s)[a-z-]+(\/[a-z-]+)*\/(?=[\s,])/g) ?? []);
  expect(parts).toEqual(
    Object.values<readonly string[]>(FOLDERS).map(all => all.filter(part => part !== './')),
  );
});

test('schemas/ imports TypeBox only', () => {
  expect(strangers(['schemas/'], ['schemas/', '@sinclair/typebox'])).toEqual([]);
});

test('a feature of the panel imports from none of the others, only from what they all share', () => {
  const panel = 'src/surfaces/panel/';
  const shared = ['kit', 'hooks', 'texts'];
  /** The folder directly below the panel's; undefined for the files beside these folders. */
  const featureOf = (file: string) => /^[^/]+(?=\/)/.exec(file.slice(panel.length))?.[0];
  const inside = imports.filter(({ from, to }) => from.startsWith(panel) && to.startsWith(panel));
  const across = inside.filter(({ from, to }) => {
    const [own, other] = [featureOf(from), featureOf(to)];
    if (own === undefined || own === other) return false;
    return other === undefined || !shared.includes(other);
  });
  expect(inside.length).toBeGreaterThan(200);
  expect(across.map(show)).toEqual([]);
});

test("the panel's texts import nothing but markup, and sentences of what is decided below", () => {
  expect(
    strangers(
      ['src/surfaces/panel/texts/'],
      [
        ...['src/surfaces/panel/texts/', 'src/surfaces/pages/html.ts', 'src/errors/refusals/'],
        'src/errors/catalogue.ts',
        'src/onchain/settlement/setup-findings.ts',
        'src/onchain/settlement/unmatched-reasons.ts',
      ],
    ),
  ).toEqual([]);
});

test('migrations/ imports Kysely only, so that a step never changes', () => {
  expect(strangers(['migrations/'], ['kysely'])).toEqual([]);
});

test('errors/, time/, crypto/, config/ and outbound/ are leaves', () => {
  const leaves = ['src/errors/', 'src/time/', 'src/crypto/', 'src/config/', 'src/outbound/'];
  const reached = strangers(leaves, [...leaves, 'schemas/']);
  expect(reached.filter(line => line.includes('→ src/'))).toEqual([]);
});

test('repositories/ and database/ contain no business rules', () => {
  const allowed = [
    ...['src/storage/repositories/', 'src/storage/database/', 'schemas/'],
    // The configuration validates the URL that the connection parses.
    'src/config/server-urls.ts',
    'src/config/database-tls.ts',
  ];
  const below = strangers(['src/storage/repositories/', 'src/storage/database/'], allowed);
  expect(below.filter(line => line.includes('→ src/'))).toEqual([]);
});

test.each([
  [
    'client',
    'clients/javascript/index.ts',
    ['clients/javascript/', 'src/signing/', 'schemas/event-types.ts'],
  ],
  [
    "client's mp",
    'src/cli/client/main.ts',
    [
      ...['src/cli/client/', 'src/cli/named-file.ts', 'src/cli/print.ts', 'src/cli/terminal.ts'],
      ...['clients/javascript/', 'src/signing/', 'src/errors/'],
      ...['schemas/event-types.ts', 'schemas/simulation-cases.ts'],
      // Imported by `mp mcp` alone, which says how to install it.
      '@modelcontextprotocol/server',
    ],
  ],
])('the %s bundles neither packages nor what only the service needs', (_, entry, allowed) => {
  const reached = new Set([entry]);
  for (const file of reached) {
    const next = imports.filter(({ from, typeOnly }) => from === file && !typeOnly);
    for (const { to } of next) reached.add(to);
  }
  const taken = [...reached].filter(to => isFile(to) || !to.startsWith('node:'));
  expect(taken.filter(to => !allowed.some(path => to.startsWith(path)))).toEqual([]);
});

test('business logic and storage do not import Fastify', () => {
  const parts = [
    ...['src/surfaces/checkout/', 'src/surfaces/legacy/'],
    ...PARTS.slice(PARTS.indexOf('src/http/') + 1),
  ];
  const http = imports.filter(
    ({ from, to }) => parts.includes(partOf(from)) && /^@?fastify\b/.test(to),
  );
  // The central error handler sends every failure.
  expect(new Set(http.map(({ from }) => from))).toEqual(new Set(['src/errors/handler.ts']));
});

test('what a request contains has the types of its schemas, and is never cast', () => {
  const cast = /\b(params|query|body)\)? as (?!const\b)/;
  const handlers = files.filter(file => /^src\/(surfaces|http)\//.test(file));
  const casting = handlers.filter(file => {
    const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^ *(\*|\/\/).*/gm, '');
    return cast.test(code);
  });
  expect(casting).toEqual([]);
});

test('SQL is written in storage/ only', () => {
  const writers = imports.filter(
    ({ from, to }) => /^(kysely|pg)\b/.test(to) && !/^(src\/storage|migrations)\//.test(from),
  );
  // The server that it starts itself, and what its errors mean.
  expect(writers.map(({ from }) => from)).toEqual([
    'src/runtime/explain-failure.ts',
    'src/runtime/development/embedded-postgres.ts',
  ]);
});

test('the root of src has only the entries and the application', () => {
  const loose = files.filter(file => /^src\/[^/]+$/.test(file));
  expect(loose.toSorted()).toEqual([...ENTRIES, 'src/app.ts'].toSorted());
});

test('no object literal is spread into another one, which lists the same in fewer lines', () => {
  const all = globSync('{src,test,bench,schemas,migrations,clients,deploy}/**/*.{ts,js,mjs,cjs}', {
    cwd: ROOT,
    exclude: ['clients/**/node_modules/**'],
  });
  // Written so that this file contains none.
  const spreads = ['{', '({'].map(literal => '.'.repeat(3).concat(literal));
  const spreading = all.filter(file => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return spreads.some(spread => text.includes(spread));
  });
  expect(spreading).toEqual([]);
});

test('what is exported is used elsewhere', () => {
  const all = globSync('{vitest.config.ts,{src,clients/javascript,schemas,test,bench}/**/*.ts}', {
    cwd: ROOT,
  });
  const texts = new Map(all.map(file => [file, readFileSync(join(ROOT, file), 'utf8')]));
  const users = Map.groupBy(
    [...texts].flatMap(([file, text]) =>
      [...new Set(text.match(/[\w$]+/g))].map(word => ({ word, file })),
    ),
    ({ word }) => word,
  );
  const unused = [...texts].flatMap(([file, text]) => {
    // What the client exports is for programs of others.
    if (file.startsWith('clients/')) return [];
    const exported = text.matchAll(
      /^export (?:async )?(?:const|function\*?|class|interface|type) (\w+)/gm,
    );
    return [...exported]
      .filter(([, name = '']) => users.get(name)?.every(user => user.file === file))
      .map(([, name]) => `${file}: ${name}`);
  });
  expect(unused).toEqual([]);
});
