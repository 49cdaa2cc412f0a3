import { access, chmod, constants, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files in memory on Linux; containers often have only 64 MB. */
const SHARED_MEMORY = '/dev/shm';
/** Free space that it must have, in bytes. */
const NEEDED = 2 ** 30;

/** Directories and deferred clean-ups of a bench; the latter run in reverse order, even if the bench fails. */
export interface Resources {
  /** Removed at the end. */
  readonly directory: string;
  /**
   * A directory in memory where possible, removed at the end. The signed requests of a minute take over
   * 100 MB; writing them to the disk would delay the commits under measurement.
   */
  readonly memory: string;
  /** Aborted when the bench has to end early. */
  readonly signal: AbortSignal;
  /** Calls `end` when the bench ends. */
  defer(end: () => unknown): void;
}

/** Runs `work` with resources that are released when it ends or fails. */
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
  // When root runs the bench, PostgreSQL runs as another user and needs access.
  await chmod(directory, 0o711);
  const aborted = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true });
  const defer = (end: () => unknown) => stack.defer(async () => void (await end()));
  // The work may take minutes to notice the abort; ending its servers makes it fail.
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
