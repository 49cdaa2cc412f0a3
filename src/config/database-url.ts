import { DatabaseUrlError, readTls, tlsFiles } from './database-tls.ts';
import type { ReadFile } from './secret-files.ts';
import { serverUrls } from './server-urls.ts';
import { BARE_PASSWORD, hasBarePassword, quote } from './values.ts';

/**
 * Checks a PostgreSQL URL, and that the files it names can be read.
 * @param maximum Maximum number of servers in the URL.
 * @throws DatabaseUrlError
 */
export function checkDatabaseUrl(
  text: string,
  { maximum, mode, readFile }: { maximum: number; mode?: string | undefined; readFile: ReadFile },
): void {
  if (hasBarePassword(text)) throw new DatabaseUrlError(BARE_PASSWORD);
  const [first, ...more] = serverUrls(text) ?? [];
  if (first === undefined || more.length >= maximum) {
    const servers = maximum === 1 ? 'one server' : 'one or several servers that take writes';
    throw new DatabaseUrlError(
      `is a value of ${text.length} characters, but must be a postgres:// URL of ${servers}`,
    );
  }
  for (const [parameter, path] of tlsFiles(readTls(first, mode))) {
    try {
      readFile(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new DatabaseUrlError(`has ${parameter}=${quote(path)}, which cannot be read (${code})`);
    }
  }
}
