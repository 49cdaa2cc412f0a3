import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createMerchant } from '#accounts/merchants.ts';
import { readConfig } from '#config/config.ts';
import { openStorage, type Storage } from '#runtime/storage.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { mpHere } from '../cli/mp.ts';
import { addPayment } from '../helpers/payments.ts';
import { freePort, launchRedis, REDIS_MISSING, type TestRedis } from '../helpers/redis-server.ts';
import { SOON } from '../helpers/soon.ts';
import { type ArchivedServer, createArchivedServer, whatIsMissing } from './archived-server.ts';

/** Executes the guide on backups. */

const GUIDE = readFileSync(
  resolve(import.meta.dirname, '../../src/surfaces/docs/guides/operating/backup.md'),
  'utf8',
);
const AS_POSTGRES = 'sudo -u postgres ';
/** The guide's pgBackRest commands, in order. */
const COMMANDS = GUIDE.split('\n')
  .filter(line => line.startsWith(`${AS_POSTGRES}pgbackrest `))
  .map(line => line.slice(AS_POSTGRES.length).replace(/ +#.*/, ''));
const commandOf = (verb: string) => {
  const [command, ...others] = COMMANDS.filter(each => each.split(' ').includes(verb));
  if (command === undefined || others.length > 0) throw new Error(`not one ${verb} in the guide`);
  return command;
};

const missing = whatIsMissing() ?? (inject('redisServer') === null ? REDIS_MISSING : undefined);

describe.skipIf(missing !== undefined)(missing ?? 'a server whose changes are archived', () => {
  let server: ArchivedServer;
  let redis: TestRedis;
  let env: Record<string, string>;
  let storage: Storage;
  /** End of the backup, in seconds since the epoch. */
  let backedUp: number;
  const logs: unknown[] = [];
  const log = (...args: unknown[]) => void logs.push(args.at(-1));
  const logger = { error: log, warn: log, info: log };

  async function open(): Promise<void> {
    const config = readConfig({ NODE_ENV: 'test', ...env });
    const options = { holder: 'service', name: 'test', logger: logger as never } as const;
    storage = await openStorage(config, options);
    await storage.databaseClock.start();
    await storage.restores.start(storage.db);
  }

  beforeAll(async () => {
    [server, redis] = await Promise.all([createArchivedServer(), launchRedis(await freePort())]);
    await server.start();
    for (const verb of ['stanza-create', 'backup']) server.run(commandOf(verb));
    backedUp = Math.floor(Date.now() / 1_000);
    env = {
      DATABASE_URL: server.url,
      REDIS_URL: redis.url,
      MASTER_KEY: randomBytes(32).toString('base64'),
    };
    expect(await mpHere(['migrate'], env)).toMatchObject({ status: 0 });
    await open();
  });
  afterAll(async () => {
    await storage?.close();
    await server?.remove();
    await redis?.stop();
  });

  const pay = (merchant: Merchant) => addPayment(storage.db, merchant, { created_at: new Date() });

  test('is restored to a time between two payments, which is noticed', async () => {
    // pgBackRest records the ends of backups in whole seconds, and uses one from before the target.
    await expect.poll(() => Math.floor(Date.now() / 1_000), SOON).toBeGreaterThan(backedUp);
    const operator = { db: storage.db, clock: Date.now, actor: 'test' };
    const merchant = await createMerchant(operator, { name: 'Shop', email: 'shop@example.com' });
    const kept = await pay(merchant);
    const { rows } = await sql<{
      target: string;
    }>`select clock_timestamp()::text as target`.execute(storage.db);
    const lost = await pay(merchant);
    await storage.restores.look(storage.db);
    expect(storage.restores.reason()).toBeNull();
    await untilArchived();
    await storage.close();
    await server.crash();

    const restore = commandOf('restore');
    server.run(restore.replace(/--target='[^']+'/, `--target='${rows[0]?.target}'`));
    await server.start();
    await open();
    expect(await findPayment(storage.db, kept.id)).toBeDefined();
    expect(await findPayment(storage.db, lost.id)).toBeUndefined();
    expect(logs.at(-1)).toMatch(/^the database was restored to .* "mp restore confirm"$/);
    await expect(pay(merchant)).rejects.toThrow('writes are refused: the database was restored');

    expect(await mpHere(['restore', 'confirm'], env)).toMatchObject({ status: 0, err: '' });
    await storage.restores.look(storage.db);
    await pay(merchant);
    expect(logs.at(-1)).toBe('the restore of the database is confirmed: writes are taken again');
  });

  /** Waits until everything written so far is archived. */
  async function untilArchived(): Promise<void> {
    const switched = await sql<{ file: string }>`
      select pg_walfile_name(pg_switch_wal()) as file`.execute(storage.db);
    const last = async () => {
      const found = await sql<{ file: string | null }>`
        select last_archived_wal as file from pg_stat_archiver`.execute(storage.db);
      return found.rows[0]?.file;
    };
    await expect.poll(last, SOON).toBe(switched.rows[0]?.file);
  }
});
