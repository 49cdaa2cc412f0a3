import { ConfigError, readConfig } from '#config/config.ts';

/** The problems of an environment, one line per variable. */
export function problemsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}
