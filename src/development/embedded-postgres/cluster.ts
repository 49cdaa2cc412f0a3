import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  lchown,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { type Account, type Launcher, outcomeOf } from './launcher.ts';
import { startMarkOf } from './process-table.ts';

/** The name of both the role that owns everything and the database. */
export const NAME = 'eps';

const UNFINISHED = 'postgres-new-';

/** Where one embedded database keeps its things; absolute paths without symbolic links. */
export interface Places {
  readonly directory: string;
  readonly data: string;
  readonly password: string;
}

/** Makes the directory when it is missing and names the places in it. */
export async function openPlaces(directory: string): Promise<Places> {
  // Started by root, the server runs as another user, who has to pass but not to look around.
  await mkdir(directory, { recursive: true, mode: process.geteuid?.() === 0 ? 0o711 : 0o700 });
  const real = await realpath(directory);
  return {
    directory: real,
    data: join(real, 'postgres'),
    password: join(real, 'postgres-password'),
  };
}

/** The password of the role; made at random the first time. */
export async function readPassword(places: Places): Promise<string> {
  if (!(await exists(places.password))) await makePassword(places);
  return (await readFile(places.password, 'utf8')).trim();
}

// Of two processes at once one makes it and both go on with the same.
async function makePassword({ directory, password }: Places): Promise<void> {
  const draft = join(
    directory,
    `postgres-password-${process.pid}-${randomBytes(4).toString('hex')}`,
  );
  await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, {
    mode: 0o600,
    flush: true,
  });
  try {
    await link(draft, password);
  } catch (error) {
    if (!(await exists(password))) throw error;
  } finally {
    await unlink(draft);
  }
}

/** Makes the cluster if there is none, all or nothing, and sees that the server's user owns it. */
export async function ensureCluster(
  places: Places,
  binaries: Binaries,
  launcher: Launcher,
  options: { readonly durable: boolean; readonly signal: AbortSignal | undefined },
): Promise<void> {
  await removeUnfinished(places.directory);
  if (await hasCluster(places)) {
    if (launcher.account !== undefined) await handOver(places.data, launcher.account);
    return;
  }
  const workshop = await mkdtemp(join(places.directory, `${UNFINISHED}${process.pid}-`));
  try {
    await initialise(workshop, await readPassword(places), binaries, launcher, options);
    await putInPlace(join(workshop, 'data'), places);
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

async function initialise(
  workshop: string,
  password: string,
  binaries: Binaries,
  launcher: Launcher,
  options: { readonly durable: boolean; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const passwordFile = join(workshop, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const { account } = launcher;
  if (account !== undefined) {
    await lchown(passwordFile, account.uid, account.gid);
    await lchown(workshop, account.uid, account.gid);
  }
  const child = launcher.spawn(binaries.initdb, [
    ...['--pgdata', join(workshop, 'data')],
    ...['--username', NAME, '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    // Built into PostgreSQL: sorts and folds the same on every machine, whatever locales it has.
    ...['--encoding', 'UTF8', '--locale', 'C'],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    '--no-instructions',
    ...(options.durable ? [] : ['--no-sync']),
  ]);
  const end = () => child.kill('SIGINT');
  options.signal?.addEventListener('abort', end);
  const { succeeded, output } = await outcomeOf(child);
  options.signal?.removeEventListener('abort', end);
  options.signal?.throwIfAborted();
  if (!succeeded) throw new Error(`PostgreSQL's data directory could not be made.\n${output}`);
}

async function putInPlace(made: string, places: Places): Promise<void> {
  try {
    await rename(made, places.data);
  } catch (cause) {
    // Another process was quicker: its cluster has the same password.
    if (await hasCluster(places)) return;
    throw new Error(
      `${places.data} exists but holds no PostgreSQL cluster. Move it away and start again.`,
      { cause },
    );
  }
  const directory = await open(places.directory);
  await directory.sync().finally(() => directory.close());
}

// Left behind by a kill -9 during initdb.
async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(UNFINISHED)) continue;
    if ((await startMarkOf(Number.parseInt(name.slice(UNFINISHED.length), 10))) !== undefined)
      continue;
    // An initdb that outlived its starter may still write there; then the next start removes it.
    await rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Gives a cluster that belongs to root, as after a copy of the checkout, to the server's user. */
async function handOver(data: string, { uid, gid }: Account): Promise<void> {
  if ((await stat(data)).uid === uid) return;
  for (const entry of await readdir(data, { recursive: true })) {
    await lchown(join(data, entry), uid, gid);
  }
  // PostgreSQL takes no other mode.
  await chmod(data, 0o700);
  // Last: whoever finds the directory itself handed over need not look further.
  await lchown(data, uid, gid);
}

async function hasCluster(places: Places): Promise<boolean> {
  return exists(join(places.data, 'PG_VERSION'));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
