import { execFile, execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { Credentials } from '#client/index.ts';
import { ADDRESSES } from '../helpers/accounts.ts';
import { createDatabase } from '../helpers/database.ts';
import { call, type ServiceProcess, serviceEnvironment, startReplica } from './service-process.ts';

/** The last commit of a release from before tables had monthly partitions; CONTRIBUTING.md says when it changes. */
const PREVIOUS = 'bb1888dfc3f32aaf0c5d9a0ee4d99a30124274a4';
const ROOT = join(import.meta.dirname, '../..');
const CREATE = '/external/v1/payments/prompt';
/** Clients per replica, each of which sends one request after the other. */
const CLIENTS = 4;
/** Payments that each replica creates in each phase. */
const PHASE = 8;
/** The longest that anything may wait for a lock, in milliseconds. */
const WAIT_MS = 1_000;
const NETWORK = 'eth';

const run = promisify(execFile);

/** Whether the clone has the previous release; a shallow one may not. */
function isHere(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${PREVIOUS}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!isHere())(isHere() ? 'two releases' : `without commit ${PREVIOUS}`, () => {
  const previous = mkdtempSync(join(tmpdir(), 'eps-previous-'));
  const name = `eps_releases_${randomBytes(6).toString('hex')}`;
  const replicas: ServiceProcess[] = [];
  const loads: { stop(): Promise<void> }[] = [];
  let env: Record<string, string>;
  let session: pg.Client;
  let shop: Credentials;

  const mp = async (root: string, ...args: string[]) =>
    (await run(process.execPath, [join(root, 'src/cli.ts'), ...args], { env, cwd: tmpdir() }))
      .stdout;

  beforeAll(async () => {
    const archive = execFileSync('git', ['archive', PREVIOUS], {
      cwd: ROOT,
      maxBuffer: 2 ** 28,
    });
    execFileSync('tar', ['-x', '-C', previous], { input: archive });
    symlinkSync(join(ROOT, 'node_modules'), join(previous, 'node_modules'));
    const url = await createDatabase(inject('databaseServer'), name, 'template0');
    env = serviceEnvironment(url, randomBytes(32), { SIMULATION: 'on' });
    session = new pg.Client({ connectionString: url });
    await session.connect();
    await mp(previous, 'migrate');
    const merchant = JSON.parse(
      await mp(previous, 'merchant', 'create', '--name', 'M', '--email', 'm@example.com', '--json'),
    );
    await mp(
      previous,
      'address',
      'set',
      '--merchant',
      merchant.id,
      '--blockchain',
      NETWORK,
      '--address',
      ADDRESSES.eth,
    );
    shop = JSON.parse(
      await mp(previous, 'key', 'create', '--merchant', merchant.id, '--name', 'test', '--json'),
    );
  });
  afterAll(async () => {
    await Promise.all(loads.map(each => each.stop()));
    await Promise.all(replicas.map(replica => replica.stop('SIGKILL')));
    await session.end();
    rmSync(previous, { recursive: true });
    const server = new pg.Client({ connectionString: inject('databaseServer') });
    await server.connect();
    await server.query(`drop database ${name} with (force)`);
    await server.end();
  });

  /** Clients that create, read and pay until they are stopped. */
  function load(replica: ServiceProcess) {
    const paid: string[] = [];
    const failures: unknown[] = [];
    let isOver = false;
    const expectStatus = (status: number, reply: { status: number; body?: unknown }) => {
      if (reply.status !== status) failures.push(reply);
      return reply.status === status;
    };
    async function client() {
      while (!isOver) {
        const body = { amount: 5000, customerReferenceId: randomUUID() };
        const created = await call(replica, shop, { path: CREATE, body });
        if (!expectStatus(201, created)) continue;
        const { id } = created.body.prompt;
        expectStatus(200, await call(replica, shop, { path: `/external/v1/payments/${id}` }));
        const { pathname } = new URL(created.body.checkoutUrl);
        const simulated = await fetch(`${replica.url}${pathname}/simulate`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ case: 'confirm' }),
        });
        if (expectStatus(303, { status: simulated.status, body: await simulated.text() }))
          paid.push(id);
      }
    }
    const clients = Array.from({ length: CLIENTS }, client);
    const started = {
      paid,
      failures,
      async goOn() {
        const until = paid.length + PHASE;
        await vi.waitUntil(() => paid.length >= until || failures.length > 0, { timeout: 30_000 });
      },
      async stop() {
        isOver = true;
        await Promise.all(clients);
      },
    };
    loads.push(started);
    return started;
  }

  /** Repeatedly checks how long anything but the migration itself waits for a lock. */
  function watchLocks() {
    let longest = 0;
    let isOver = false;
    const look = async () => {
      while (!isOver) {
        const { rows } = await session.query<{ ms: number }>(`
          select coalesce(max(extract(epoch from clock_timestamp() - waitstart) * 1000), 0)::float8 as ms
          from pg_locks join pg_stat_activity using (pid)
          where not granted and locktype = 'relation' and datname = current_database()
            and application_name <> 'eps-migrate'`);
        longest = Math.max(longest, rows[0]?.ms ?? 0);
        await sleep(10);
      }
      return longest;
    };
    const looking = look();
    return () => {
      isOver = true;
      return looking;
    };
  }

  test('serve concurrently while the database is migrated, and no request waits for a second', async () => {
    const old = await startReplica(env, undefined, previous);
    replicas.push(old);
    const before = load(old);
    await before.goOn();
    const stopWatching = watchLocks();
    const applied = JSON.parse(await mp(ROOT, 'migrate', '--json'));
    const waited = await stopWatching();
    const current = await startReplica(env);
    replicas.push(current);
    const after = load(current);
    await Promise.all([before.goOn(), after.goOn()]);
    await Promise.all([before.stop(), after.stop()]);

    expect([...before.failures, ...after.failures]).toEqual([]);
    expect(applied.applied).not.toEqual([]);
    expect(waited).toBeLessThan(WAIT_MS);
    const { rows } = await session.query<{ id: string }>(
      "select id from payments where status = 'successful'",
    );
    const paid = [...before.paid, ...after.paid];
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(paid));
  });
});
