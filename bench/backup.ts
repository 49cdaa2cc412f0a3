import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import { connect } from '#storage/database/connection.ts';
import { postgresPid, startPostgres, THROW_AWAY } from './databases.ts';
import type { History } from './histories.ts';
import { type Finding, timed, VoidRun } from './measure.ts';
import type { PartnerHistory } from './partner-history.ts';
import type { Resources } from './resources.ts';

/** The most that a compressed backup takes of the size of its database, half of which is random. */
const COMPRESSED = 0.7;

/**
 * Measures a full backup of the server's files, compressed, and its restore in their place. Comes last, since it
 * stops the server. What pgBackRest does online is the same copy.
 * @returns Nothing where the disk has no room for the backup.
 */
export async function backupFindings(
  resources: Resources,
  side: History<PartnerHistory>,
): Promise<Finding[]> {
  const { directory } = resources;
  const { rows } = await sql<{ bytes: number }>`
    select sum(pg_database_size(oid))::bigint as bytes from pg_database`.execute(side.db);
  const bytes = rows[0]?.bytes ?? Number.NaN;
  const { bavail, bsize } = await statfs(directory);
  if (!(bavail * bsize > bytes * COMPRESSED)) {
    process.stdout.write('no room for a backup\n');
    return [];
  }
  await stopPostgres(resources);
  const archive = join(directory, 'backup.tar.zst');
  const tar = (compressor: string) => [
    ...['tar', '--use-compress-program', compressor, '-C', join(directory, 'database')],
  ];
  // Includes the flush to disk.
  const finish = async (command: readonly string[]) => {
    await run(command);
    await run(['sync', '--file-system', directory]);
  };
  const backup = await timed(() => finish([...tar('zstd -1 -T2'), '-cf', archive, 'postgres']));
  const { size } = await stat(archive);
  await rm(join(directory, 'database', 'postgres'), { recursive: true });
  const restored = await timed(() => finish([...tar('zstd'), '-xf', archive]));
  await rm(archive);
  let server = '';
  const start = await timed(async () => {
    server = await startPostgres(resources, THROW_AWAY);
  });
  const url = new URL(side.url);
  url.port = new URL(server).port;
  const db = connect({
    url: url.href,
    poolSize: 1,
    applicationName: 'bench',
    statementTimeoutMs: 0,
    onIdleError: () => undefined,
  });
  resources.defer(() => db.destroy());
  const [wrong] = await verifyPartner(db, side.partnerId);
  if (wrong !== undefined) throw new VoidRun(JSON.stringify(wrong));
  const gigabytes = (value: number) => `${(value / 1e9).toFixed(1)} GB`;
  return [
    {
      subject: 'full backup, in seconds',
      measured: `${gigabytes(bytes)} as ${gigabytes(size)}`,
      value: backup / 1000,
      goal: null,
    },
    {
      subject: 'restore, in seconds',
      measured: `and the server started in ${(start / 1000).toFixed(1)}`,
      value: restored / 1000,
      goal: null,
    },
  ];
}

/** Stops the server that `startPostgres` has started. */
async function stopPostgres(resources: Resources): Promise<void> {
  const pid = await postgresPid(resources);
  process.kill(pid, 'SIGINT');
  for (let isRunning = true; isRunning; ) {
    await sleep(100);
    isRunning = await postgresPid(resources).then(
      () => true,
      () => false,
    );
  }
}

async function run([program = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new VoidRun(`${program} ended with status ${status}`);
}
