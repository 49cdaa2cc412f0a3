import { join } from 'node:path';

/**
 * For processes that a test starts from the sources: Node keeps what it has compiled there, which halves
 * the start of each but the first.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/tests'),
} as const;

/**
 * For those whose files lie where they are, which none is that npm has linked: not to look for links is another
 * twentieth of a start.
 */
export const QUICK_START = {
  ...COMPILE_CACHE,
  NODE_PRESERVE_SYMLINKS: '1',
  NODE_PRESERVE_SYMLINKS_MAIN: '1',
} as const;
