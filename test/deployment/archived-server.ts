import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, copyFileSync, globSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { chooseAccount } from '#runtime/development/postgres-process.ts';
import { serverRoot } from '../helpers/database-server.ts';
import { freePort } from '../helpers/redis-server.ts';

const FOLDER = resolve(import.meta.dirname, '../../deploy/pgbackrest');
const START_MS = 20_000;

/** A server of Debian's PostgreSQL with pgBackRest, set up by the files of deploy/pgbackrest. */
export interface ArchivedServer {
  readonly url: string;
  start(): Promise<void>;
  /** Ends it like a power loss. */
  crash(): Promise<void>;
  /** Runs a command of the guide. */
  run(command: string): void;
  remove(): Promise<void>;
}

/** The newest PostgreSQL programs from Debian's packages. */
export function findPrograms(): string | undefined {
  const versions = globSync('/usr/lib/postgresql/*/bin/postgres');
  return versions
    .map(path => resolve(path, '..'))
    .toSorted((a, b) => Number(b.split('/')[4]) - Number(a.split('/')[4]))[0];
}

/** Why such a server cannot run here, for the names of tests; undefined if it can. */
export function whatIsMissing(): string | undefined {
  const isThere = findPrograms() !== undefined && spawnSync('pgbackrest', ['version']).status === 0;
  return isThere ? undefined : 'needs pgBackRest: apt-get install pgbackrest postgresql';
}

export async function createArchivedServer(): Promise<ArchivedServer> {
  const programs = findPrograms() ?? '';
  const directory = mkdtempSync(join(serverRoot(), 'eps-archived-'));
  const [data, repository] = [join(directory, 'data'), join(directory, 'repository')];
  const account = await chooseAccount(data);
  /** PostgreSQL does not run as root, and its user need not have access to the checkout. */
  const hand = (path: string) => {
    if (account !== undefined) chownSync(path, account.uid, account.gid);
    return path;
  };
  const logs = join(directory, 'logs');
  for (const folder of [directory, repository, logs]) {
    mkdirSync(folder, { recursive: true });
    hand(folder);
  }
  const copy = (name: string) => {
    copyFileSync(join(FOLDER, name), join(directory, name));
    return hand(join(directory, name));
  };
  const port = await freePort();
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    LC_ALL: 'C',
    // Replaces paths in the files that differ in a test.
    PGBACKREST_CONFIG: copy('pgbackrest.conf'),
    PGBACKREST_PG1_PATH: data,
    PGBACKREST_PG1_PORT: String(port),
    PGBACKREST_PG1_SOCKET_PATH: directory,
    PGBACKREST_PG1_USER: 'eps',
    PGBACKREST_REPO1_PATH: repository,
    PGBACKREST_LOG_PATH: logs,
    // A folder that does not exist yet, as on a new machine.
    PGBACKREST_LOCK_PATH: join(logs, 'lock'),
    PGBACKREST_SPOOL_PATH: logs,
  };
  const options = { ...account, env, cwd: directory };
  const run = (command: string) =>
    execFileSync('sh', ['-c', command], { ...options, stdio: 'pipe' });
  run(`initdb --pgdata ${data} --username eps --auth trust --no-sync --encoding UTF8 --locale C`);
  appendFileSync(
    join(data, 'postgresql.conf'),
    [
      `include '${copy('postgresql.conf')}'`,
      `port = ${port}`,
      `unix_socket_directories = '${directory}'`,
      `listen_addresses = '127.0.0.1'`,
      'fsync = off',
      '',
    ].join('\n'),
  );
  const url = `postgres://eps@127.0.0.1:${port}/postgres`;
  let server: ReturnType<typeof spawn> | undefined;

  async function crash(): Promise<void> {
    if (server === undefined) return;
    const exited = once(server, 'exit');
    server.kill('SIGQUIT');
    await exited;
    server = undefined;
  }
  return {
    url,
    run,
    crash,
    async start() {
      server = spawn('postgres', ['-D', data], { ...options, stdio: 'ignore' });
      const giveUpAt = Date.now() + START_MS;
      while (!(await isPrimary(url))) {
        if (server.exitCode !== null || Date.now() > giveUpAt) throw new Error('no server started');
        await sleep(50);
      }
    },
    async remove() {
      await crash();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function isPrimary(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('select pg_is_in_recovery() as recovering');
    return rows[0].recovering === false;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}
