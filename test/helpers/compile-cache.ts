import { join } from 'node:path';

/**
 * For processes that tests start from the sources: Node caches compiled code there, which halves the start of
 * each but the first.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/tests'),
} as const;

/**
 * For processes whose files are no symbolic links, such as npm makes: not resolving links saves another twentieth of
 * a start.
 */
export const QUICK_START = {
  ...COMPILE_CACHE,
  NODE_PRESERVE_SYMLINKS: '1',
  NODE_PRESERVE_SYMLINKS_MAIN: '1',
} as const;
