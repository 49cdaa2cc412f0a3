import { readFileSync } from 'node:fs';
import type { Environment } from './environment-reader.ts';
import { quote } from './values.ts';

/** Variables whose value may be in a file; `<NAME>_FILE` then has its path. */
export const SECRET_VARIABLES = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_REPORTS_URL',
  'MIGRATION_DATABASE_URL',
  'REDIS_URL',
  'SMTP_URL',
  'MASTER_KEY',
  'MASTER_KEYS_PREVIOUS',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
] as const;

export type ReadFile = (path: string) => string;

export const readText: ReadFile = path => readFileSync(path, 'utf8');

/**
 * The environment with the secrets that are in files; an empty file counts as unset.
 * @param problems Gets a line for each file that cannot be read, and for each secret that is set twice.
 */
export function withSecretFiles(
  env: Environment,
  problems: string[],
  readFile: ReadFile,
): Environment {
  // Inherits all other variables.
  const complete: Record<string, string> = Object.create(env);
  for (const name of SECRET_VARIABLES) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) problems.push(`${name} and ${name}_FILE are both set; set one of them.`);
    try {
      // Editors and echo end a file with a line break.
      complete[name] = readFile(path).replace(/[\r\n]+$/, '');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      problems.push(`${name}_FILE is ${quote(path)}, which cannot be read (${code}).`);
    }
  }
  return complete;
}
