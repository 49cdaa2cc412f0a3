import { isNodeError } from '#chains/nodes/node.ts';
import type { Watcher } from '../watcher.ts';

/**
 * What `work` returns; undefined where the node fails. Then a warning is logged, with the fields, and nothing
 * else is held up.
 */
export async function unlessNodeFails<T>(
  log: Watcher['log'],
  fields: Readonly<Record<string, unknown>>,
  message: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isNodeError(error)) throw error;
    log.warn({ err: error, ...fields }, message);
    return undefined;
  }
}
