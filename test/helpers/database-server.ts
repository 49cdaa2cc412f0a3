import { accessSync, constants, statfsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbeddedDatabase } from '#runtime/development/embedded-postgres.ts';

/** A PostgreSQL server for tests. */
interface TestServer {
  readonly url: string;
  /** Stops the server and removes its files; does nothing to a server from the environment. */
  stop(): Promise<void>;
}

const IN_MEMORY = '/dev/shm';
/** Twice the most that all databases of a run take at a time, with their WAL. */
const ROOM_BYTES = 2 * 1024 ** 3;

/**
 * Where throw-away servers store their files: in memory if there is room. A database has 300 files,
 * which take 10 ms of CPU to create there, and 80 to 350 on a disk.
 */
export function serverRoot(): string {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    accessSync(IN_MEMORY, constants.W_OK);
    if (bavail * bsize >= ROOM_BYTES) return IN_MEMORY;
  } catch {
    // It does not exist, as on macOS.
  }
  return tmpdir();
}

/**
 * Starts a throw-away server, or uses the one that TEST_DATABASE_URL names: its role must be allowed to
 * create databases and roles.
 */
export async function startTestServer(): Promise<TestServer> {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return { url, stop: async () => {} };
  const directory = await mkdtemp(join(serverRoot(), 'eps-test-'));
  // If root runs the tests, the server runs as another user and needs access.
  await chmod(directory, 0o711);
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const database = await openEmbeddedDatabase({
      directory,
      holder: 'service',
      settings: {
        fsync: 'off',
        synchronous_commit: 'off',
        full_page_writes: 'off',
        max_connections: '200',
        max_wal_size: '256MB',
        scram_iterations: '1',
      },
    });
    await keepPasswordAgain(database.url);
    return { url: database.url, stop: () => database.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Sets the owner's password again, unchanged, with the server's current setting. With the default of 4,096 rounds a
 * client spends half a millisecond of CPU on each new connection, thousands of times in a run.
 */
async function keepPasswordAgain(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const password = client.escapeLiteral(new URL(url).password);
    await client.query(`alter role current_user password ${password}`);
  } finally {
    await client.end();
  }
}
