import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { vi } from 'vitest';
import { chooseAccount } from '#runtime/development/postgres-process.ts';
import { freePort } from '../helpers/redis-server.ts';

export interface PgBouncer {
  /** The database's URL through PgBouncer. */
  readonly url: string;
  /** Lines of its log. */
  readonly log: readonly string[];
  stop(): Promise<void>;
}

/** Why tests that need PgBouncer are skipped, for their names. */
export const PGBOUNCER_MISSING = 'needs PgBouncer: apt-get install pgbouncer';

/** Its path, if it is installed. Debian installs it in a folder that only root's PATH has. */
export function findPgBouncer(): string | undefined {
  const places = ['pgbouncer', '/usr/sbin/pgbouncer'];
  return places.find(place => spawnSync(place, ['--version']).status === 0);
}

/**
 * Starts PgBouncer in front of the database of a URL.
 * @param settings Lines of its section [pgbouncer]; later ones override earlier ones.
 * @param session Statements for each new session, if any.
 */
export async function startPgBouncer(
  program: string,
  databaseUrl: string,
  settings: string,
  session = '',
): Promise<PgBouncer> {
  const { hostname, port, username, password } = new URL(databaseUrl);
  const directory = await mkdtemp(join(tmpdir(), 'eps-pgbouncer-'));
  // If root runs the tests it runs as another user, since it refuses to run as root.
  await chmod(directory, 0o755);
  const users = join(directory, 'users.txt');
  const ini = join(directory, 'pgbouncer.ini');
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`);
  const listen = await freePort();
  await writeFile(
    ini,
    `[databases]
* = host=${hostname} port=${port || 5432} connect_query='${session}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listen}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
${settings}`,
  );
  const child = spawn(program, [ini], {
    ...(await chooseAccount(directory)),
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', line => log.push(line));
  const ended = once(child, 'close');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(listen);
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await vi.waitUntil(() => child.exitCode !== null || answers(url.href), { timeout: 20_000 });
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${log.join('\n')}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: url.href, log, stop };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  const answered = client.connect().then(
    () => true,
    () => false,
  );
  await answered;
  await client.end();
  return answered;
}
