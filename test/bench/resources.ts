import { access, chmod, constants, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory; containers often have 64 MB there. */
const SHARED_MEMORY = '/dev/shm';
/** What has to be free there, in bytes. */
const NEEDED = 2 ** 30;

/** What a bench may start: everything is ended in the opposite order, however the bench ends. */
export interface Resources {
  /** Removed with all that is in it. */
  readonly directory: string;
  /**
   * A directory in memory where there is one, removed likewise: a minute's load takes 100 MB and more,
   * and to write them back to the disk would hold up the commits that are measured.
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
  const memory = await temporary((await hasRoom(SHARED_MEMORY)) ? SHARED_MEMORY : tmpdir());
  // Run by root, PostgreSQL is another user's and has to get in.
  await chmod(directory, 0o711);
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
  const defer = (end: () => unknown) => stack.defer(async () => void (await end()));
  // What is being waited for may take minutes; its servers are ended under it.
  return await Promise.race([work({ directory, memory, signal, defer }), aborted.promise]);
}

async function hasRoom(directory: string): Promise<boolean> {
  try {
    await access(directory, constants.W_OK);
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize >= NEEDED;
  } catch {
    return false;
  }
}
