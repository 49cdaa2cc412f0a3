import { isNodeError } from '#chains/nodes/node.ts';
import type { Watcher } from '../watcher.ts';

/**
 * Returns what `work` returns. If the node fails, logs a warning with the fields and returns undefined, so that other
 * work can go on.
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
