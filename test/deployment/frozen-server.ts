import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openEmbeddedDatabase } from '#runtime/development/embedded-postgres.ts';
import { serverRoot } from '../helpers/database-server.ts';

/** A separate PostgreSQL server whose processes can be frozen. */
export interface FreezableServer {
  readonly url: string;
  /** Freezes the whole server, or the sessions of a database with this name. */
  freeze(sessions?: { readonly url: string; readonly applicationName: string }): Promise<void>;
  /** Resumes all processes. */
  thaw(): void;
  stop(): Promise<void>;
}

/**
 * Starts several servers, each with a copy of the same data.
 * @param fill Fills the database of the first before it is copied, and leaves no session.
 */
export async function startFreezableServers(
  count: number,
  fill: (url: string) => Promise<void>,
): Promise<FreezableServer[]> {
  const directories = await Promise.all(Array.from({ length: count }, makeDirectory));
  const [first = '', ...others] = directories;
  const filled = await open(first);
  await fill(filled.url);
  await filled.stop();
  for (const other of others) await promisify(execFile)('cp', ['-a', `${first}/.`, other]);
  return Promise.all(directories.map(startIn));
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(serverRoot(), 'eps-frozen-'));
  // If root runs the tests, the server runs as another user and needs access.
  await chmod(directory, 0o711);
  return directory;
}

const open = (directory: string) =>
  openEmbeddedDatabase({
    directory,
    holder: 'service',
    settings: { fsync: 'off', full_page_writes: 'off' },
  });

async function startIn(directory: string): Promise<FreezableServer> {
  const server = await open(directory);
  const frozen = new FrozenProcesses();
  return {
    url: server.url,
    freeze: sessions =>
      frozen.freeze(directory, sessions?.url ?? server.url, sessions?.applicationName),
    thaw: () => frozen.thaw(),
    async stop() {
      frozen.thaw();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Frozen processes of PostgreSQL servers. */
export class FrozenProcesses {
  readonly #pids = new Set<number>();

  /** Freezes the sessions of this name in the database, or else the whole server in the directory. */
  async freeze(directory: string, url: string, applicationName?: string): Promise<void> {
    // First the process that would start others.
    if (applicationName === undefined) this.#pids.add(await postmasterOf(directory));
    for (const pid of await processesOf(url, applicationName)) this.#pids.add(pid);
    for (const pid of this.#pids) signal(pid, 'SIGSTOP');
  }

  /** Resumes all processes. */
  thaw(): void {
    for (const pid of this.#pids) signal(pid, 'SIGCONT');
    this.#pids.clear();
  }
}

async function postmasterOf(directory: string): Promise<number> {
  const [pid] = (await readFile(join(directory, 'postgres/postmaster.pid'), 'utf8')).split('\n');
  return Number(pid);
}

async function processesOf(url: string, applicationName = ''): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where pid <> pg_backend_pid()
       and ($1 = '' or (application_name = $1 and datname = current_database()))`,
    [applicationName],
  );
  await client.end();
  return rows.map(({ pid }) => pid);
}

/** A process that has ended meanwhile needs no signal. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
