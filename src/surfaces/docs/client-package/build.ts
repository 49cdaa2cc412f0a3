import { execFile } from 'node:child_process';
import {
  access,
  cp,
  glob,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CLIENT_NAME, OUTPUT, packageFile, readVersion } from './package-file.ts';
import { writeSchemaTypes } from './schema-types.ts';

/**
 * `npm run build:client`: makes the npm package of the client. The compiler is a development dependency, so the image
 * builds the package in a stage of its own; in a checkout, `npm start` builds it whenever a source is newer. A
 * running service only reads the file: it needs no compiler, and all replicas of an image serve the same bytes.
 */

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const README = join(ROOT, 'clients/javascript/README.md');
/** Longest that the compiler or npm may take, in milliseconds; each usually takes a second. */
const TIMEOUT_MS = 60_000;

/** What the client is made of, besides the types of the schemas. */
const SOURCES = [
  'clients/javascript/*.ts',
  'src/cli/client/**/*.ts',
  ...['named-file', 'print', 'terminal'].map(name => `src/cli/${name}.ts`),
  ...['canonical', 'check-headers', 'describe-mismatch', 'explain-mismatch'].map(
    name => `src/signing/${name}.ts`,
  ),
  ...['sent-target', 'webhooks', 'mistakes/*', 'vectors/*'].map(name => `src/signing/${name}.ts`),
  ...['src/errors/api-error.ts', 'src/errors/catalogue.ts'],
];
/** The module that the package exports, and the program that runs as `mp`. */
const ENTRIES = { library: 'client/index', program: 'cli/client/main' };
/** Everything that the package depends on. */
const INPUTS = [
  ...SOURCES,
  ...['clients/javascript/README.md', 'schemas/*.ts', 'src/surfaces/docs/client-package/*'],
  'package.json',
];

/** The client supports Node 20 and later, which has the whole library of ES2023. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2023'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  declaration: true,
  skipLibCheck: true,
  rootDir: '.',
  outDir: '../package',
};

/** Builds the package atomically. */
async function buildClientPackage(): Promise<void> {
  await mkdir(OUTPUT, { recursive: true });
  const directory = await mkdtemp(fileURLToPath(new URL('build-', OUTPUT)));
  try {
    await compile(join(directory, 'sources'));
    const built = await pack(join(directory, 'package'));
    await rename(built, packageFile(readVersion()));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Builds the package if it is missing or older than one of its inputs. */
export async function buildIfStale(): Promise<void> {
  const built = await stat(packageFile(readVersion())).catch(() => undefined);
  for await (const input of glob(INPUTS, { cwd: ROOT })) {
    if (built === undefined || (await stat(join(ROOT, input))).mtimeMs > built.mtimeMs) {
      return buildClientPackage();
    }
  }
}

/**
 * Compiles a copy of the sources with plain types for the schemas and relative imports: the subpath imports of this
 * repository do not exist in the package.
 */
async function compile(sources: string): Promise<void> {
  for await (const path of glob(SOURCES, { cwd: ROOT })) {
    await cp(join(ROOT, path), join(sources, pathInPackage(path)));
  }
  await editAll(sources, (text, folder) => {
    const root = relative(folder, sources);
    return text
      .replace(/'#schemas\/[\w-]+\.ts'/g, `'${root}/schemas.ts'`)
      .replace(/'#([a-z]+\/)/g, `'${root}/$1`);
  });
  await writeFile(join(sources, 'schemas.ts'), writeSchemaTypes());
  const config = {
    compilerOptions: COMPILER_OPTIONS,
    files: Object.values(ENTRIES).map(entry => `${entry}.ts`),
  };
  await writeFile(join(sources, 'tsconfig.json'), JSON.stringify(config));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  await access(compiler).catch(() => {
    throw new Error('The client is not built: TypeScript, a development dependency, is missing.');
  });
  await finish(process.execPath, [compiler, '-p', '.'], sources);
}

/** The path of a source in the package, which is that of its subpath import. */
function pathInPackage(path: string): string {
  return path.replace(/^clients\/javascript\//, 'client/').replace(/^src\//, '');
}

/**
 * Lets npm make the archive. It gives every file the same time and mode, so that the same sources make
 * the same bytes.
 * @returns The path of the archive.
 */
async function pack(directory: string): Promise<string> {
  // The compiler rewrites imports in JavaScript only, not in declarations.
  await editAll(directory, text => text.replace(/( from '\.[^']+)\.ts'/g, "$1.js'"));
  await cp(README, join(directory, 'README.md'));
  await writeFile(
    join(directory, 'package.json'),
    `${JSON.stringify(await manifest(), null, 2)}\n`,
  );
  await finish('npm', ['pack', '--ignore-scripts', '--silent'], directory);
  return join(directory, `${CLIENT_NAME}-${readVersion()}.tgz`);
}

async function manifest() {
  const { version, license } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  return {
    name: CLIENT_NAME,
    version,
    description: 'Client of the External Payments Service for Node.js, Deno and Bun.',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': { types: `./${ENTRIES.library}.d.ts`, default: `./${ENTRIES.library}.js` },
    },
    bin: { mp: `${ENTRIES.program}.js` },
  };
}

async function editAll(
  directory: string,
  edit: (text: string, folder: string) => string,
): Promise<void> {
  for await (const path of glob('**/*.ts', { cwd: directory })) {
    const file = join(directory, path);
    await writeFile(file, edit(await readFile(file, 'utf8'), dirname(file)));
  }
}

/** @throws Error with what the program printed, or why it did not start, if it fails. */
async function finish(program: string, args: readonly string[], cwd: string): Promise<void> {
  try {
    await run(program, args, { cwd, timeout: TIMEOUT_MS });
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & Record<string, string>;
    throw new Error(`The client could not be built: ${stdout + stderr || message}`, {
      cause: error,
    });
  }
}

if (import.meta.main) {
  if (!process.argv.includes('--if-stale')) await buildClientPackage();
  // The service starts without the package: it serves its documentation and says that there is none.
  else await buildIfStale().catch(error => process.stderr.write(`${error.message}\n`));
}
