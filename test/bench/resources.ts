import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const SHARED_MEMORY = '/dev/shm';

/** What a bench may start: everything is ended in the opposite order, however the bench ends. */
export interface Resources {
  /** Removed with all that is in it. */
  readonly directory: string;
  /**
   * A directory that is no disk's where there is such a one, removed likewise: writing hundreds of
   * megabytes back to the disk would hold up the commits that are measured.
   */
  readonly memory: string;
  /** Aborted when the bench is to end early. */
  readonly signal: AbortSignal;
  /** Has `end` called when the bench ends; call it before what it ends is started. */
  defer(end: () => unknown): void;
}

/** Runs `work` with resources that are ended when it ends or fails. */
export async function withResources<T>(
  signal: AbortSignal,
  work: (resources: Resources) => Promise<T>,
): Promise<T> {
  await using stack = new AsyncDisposableStack();
  const temporary = async (parent: string) => {
    const path = await mkdtemp(join(parent, 'eps-bench-'));
    stack.defer(() => rm(path, { recursive: true, force: true }));
    return path;
  };
  const directory = await temporary(tmpdir());
  const memory = await temporary(existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir());
  // Run by root, PostgreSQL is another user's and has to get in.
  await chmod(directory, 0o711);
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
  const defer = (end: () => unknown) => stack.defer(async () => void (await end()));
  // What is being waited for may take minutes; its servers are ended under it.
  return await Promise.race([work({ directory, memory, signal, defer }), aborted.promise]);
}
