import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openEmbeddedDatabase } from '#runtime/development/embedded-postgres.ts';
import { serverRoot } from '../helpers/database-server.ts';

/** A PostgreSQL server of its own, whose processes can be stopped in their tracks. */
export interface FreezableServer {
  readonly url: string;
  /** Stops the whole server, or the processes of a database's sessions of that name. */
  freeze(sessions?: { readonly url: string; readonly applicationName: string }): Promise<void>;
  /** Lets everything run on. */
  thaw(): void;
  stop(): Promise<void>;
}

/**
 * Starts as many servers, each with a copy of the same data.
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
  // Run by root, the server is another user's and has to get in.
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

/** Processes of PostgreSQL servers that are stopped in their tracks. */
export class FrozenProcesses {
  readonly #pids = new Set<number>();

  /** Stops the sessions of that name in the database, or else the whole server in the directory. */
  async freeze(directory: string, url: string, applicationName?: string): Promise<void> {
    // First the process that would start others.
    if (applicationName === undefined) this.#pids.add(await postmasterOf(directory));
    for (const pid of await processesOf(url, applicationName)) this.#pids.add(pid);
    for (const pid of this.#pids) signal(pid, 'SIGSTOP');
  }

  /** Lets everything run on. */
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
