import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { link, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ignore } from './postgres-package.ts';
import { type Account, isRunning, type Postgres } from './postgres-process.ts';

/** The name of both the role that owns everything and the database. */
export const NAME = 'eps';
/** The role that the service uses, which owns nothing. */
export const SERVICE_NAME = 'eps_service';

/** PostgreSQL's lock on a data directory. */
export interface Lock {
  readonly pid: number;
  readonly port: number;
  /** Whether the server accepts connections, by its own account. */
  readonly ready: boolean;
}

/** Reads postmaster.pid, whose lines are listed in PostgreSQL's src/include/utils/pidfile.h. */
export async function readLock(data: string): Promise<Lock | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(ignore('ENOENT'));
  if (text === undefined) return undefined;
  const [pid, , , port, , , , status = ''] = text.split('\n');
  return { pid: Number(pid), port: Number(port), ready: /^(ready|standby)/.test(status) };
}

/** Reads the owner's password from the file beside the data directory; generates it the first time. */
export async function readPassword(data: string): Promise<string> {
  const file = `${data}-password`;
  if (!(await exists(file))) {
    const draft = `${file}-${randomUUID()}`;
    const password = randomBytes(24).toString('base64url');
    await writeFile(draft, `${password}\n`, { mode: 0o600, flush: true });
    // Of several processes at once only the first succeeds; all use its password.
    await link(draft, file).catch(ignore('EEXIST'));
    await rm(draft);
  }
  return (await readFile(file, 'utf8')).trim();
}

/**
 * Creates the cluster if there is none, all or nothing, and gives it to the server's user.
 *
 * @param flags more arguments for initdb
 * @throws Error with what initdb said when it fails.
 */
export async function ensureCluster(
  data: string,
  postgres: Postgres,
  flags: readonly string[],
): Promise<void> {
  if (await hasCluster(data)) {
    // A copy made by root belongs to root.
    if (postgres.account !== undefined) await handOver(data, postgres.account);
    return;
  }
  await removeUnfinished(data);
  const workspace = await mkdtemp(`${data}-new-${process.pid}-`);
  try {
    await writeFile(join(workspace, 'password'), await readPassword(data), { mode: 0o600 });
    if (postgres.account !== undefined) await handOver(workspace, postgres.account);
    await initialise(workspace, postgres, flags);
    await rename(join(workspace, 'data'), data);
  } catch (error) {
    // Another process was quicker; its cluster has the same password.
    if (!(await hasCluster(data))) throw error;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function initialise(
  workspace: string,
  postgres: Postgres,
  flags: readonly string[],
): Promise<void> {
  const said: string[] = [];
  const args = [
    ...['--pgdata', join(workspace, 'data'), '--pwfile', join(workspace, 'password')],
    ...['--username', NAME, '--auth', 'scram-sha-256', '--no-instructions'],
    // Built into PostgreSQL: sorts and folds the same on every machine, whatever locales it has.
    ...['--encoding', 'UTF8', '--locale', 'C'],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...flags,
  ];
  const [status] = await once(
    postgres.start('initdb', args, line => said.push(line)),
    'close',
  );
  if (status === 0) return;
  throw new Error(
    'The embedded PostgreSQL could not create its data directory. Start the service as an ordinary ' +
      `user in a directory of that user's own, or set DATABASE_URL.\n${said.join('\n')}`,
  );
}

/** Removes what kill -9 during initdb left behind. */
async function removeUnfinished(data: string): Promise<void> {
  for (const name of await readdir(dirname(data))) {
    const [, creator] = /^postgres-new-(\d+)-/.exec(name) ?? [];
    if (creator === undefined || isRunning(Number(creator))) continue;
    await rm(join(dirname(data), name), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function handOver(folder: string, { uid, gid }: Account): Promise<void> {
  await promisify(execFile)('chown', ['-hR', `${uid}:${gid}`, folder]);
}

function hasCluster(data: string): Promise<boolean> {
  return exists(join(data, 'PG_VERSION'));
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(ignore('ENOENT'))) !== undefined;
}
