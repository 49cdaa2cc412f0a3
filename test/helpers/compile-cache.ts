import { join } from 'node:path';

/**
 * For processes that a test starts from the sources: Node keeps what it has compiled there, which halves
 * the start of each but the first.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/tests'),
} as const;
