import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { verifyWebhook } from '#client/index.ts';
import { openEmbeddedDatabase } from '#runtime/development/embedded-postgres.ts';
import { findService } from '#runtime/development/local-service.ts';
import { TEST_ID_PREFIX } from '#signing/vectors/test-payment.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { migrate } from '#storage/database/migrate.ts';
import { mp } from '../cli/mp.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';
import { startReceiver } from '../payments/webhooks/receiver.ts';
import { failToStart } from './service-process.ts';
import { EMBEDDED_MISSING, hasEmbedded } from './standby.ts';

/** `npm start` without a database URL, as on the first day. */

const ROOT = join(import.meta.dirname, '../..');
/** A terminal without variables for the service. */
const TERMINAL = { PATH: process.env.PATH, ...COMPILE_CACHE };

describe.skipIf(!hasEmbedded())(hasEmbedded() ? 'npm start' : EMBEDDED_MISSING, () => {
  let directory: string;
  let service: ChildProcess;
  let said = '';
  let owner: Database;

  const open = (url: string) =>
    connect({ url, poolSize: 1, applicationName: 'test', onIdleError: () => undefined });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "eps-it's-"));
    // If root runs the tests, the embedded server runs as another user and needs access.
    await chmod(directory, 0o711);
    // As an earlier release left it: everything belongs to the only role.
    const settings = { fsync: 'off' };
    const before = await openEmbeddedDatabase({ directory, holder: 'command', settings });
    const db = open(before.url);
    await migrate(db);
    await db.destroy();
    await before.stop();

    service = spawn(process.execPath, [join(ROOT, 'src/server.ts'), '--with-worker'], {
      env: { PATH: process.env.PATH, ...COMPILE_CACHE, DATA_DIRECTORY: directory, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    service.stdout?.on('data', chunk => {
      said += chunk;
    });
    await vi.waitUntil(() => said.includes('Documentation: '), { timeout: 50_000 });
    owner = open((await openEmbeddedDatabase({ directory, holder: 'command' })).url);
  });
  afterAll(async () => {
    await owner?.destroy();
    service.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 20 });
  });

  test('prints an address and a command that reach it, whatever its port', async () => {
    const [, url = ''] = /is listening on (http:\/\/127\.0\.0\.1:\d+)\n/.exec(said) ?? [];
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    expect(said).toContain(`Documentation: ${url}/docs`);
    const [, command = ''] = /^ {2}(.* mp request .*)$/m.exec(said) ?? [];
    const shell = spawn('sh', ['-c', command.replace('npx --no mp', `node ${ROOT}/src/cli.ts`)], {
      env: TERMINAL,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let answer = '';
    shell.stdout.on('data', chunk => {
      answer += chunk;
    });
    expect(await once(shell, 'close')).toEqual([0, null]);
    expect(answer).toMatch(/^HTTP 201 Created\n/);
  });

  test('a second start is refused, and the first service is still found', async () => {
    const [, url = ''] = /is listening on (\S+)\n/.exec(said) ?? [];
    const env = { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, DATA_DIRECTORY: directory };
    const { status, told } = await failToStart(env);
    expect({ status, told }).toEqual({
      status: 1,
      told: `Process ${service.pid} serves DATA_DIRECTORY (${directory}) already, at ${url}: end it first, or set another DATA_DIRECTORY.\n`,
    });
    expect(await findService(directory)).toBe(url);
  });

  test('prints commands that give a server the demo’s payments, and test it', async () => {
    const receiver = await startReceiver();
    const shell = (command: RegExp) => {
      const [, line = ''] = command.exec(said) ?? [];
      const started = line
        .replace('npx --no mp', `exec node ${ROOT}/src/cli.ts`)
        .replace('http://localhost:8080/hooks', receiver.url);
      return spawn('sh', ['-c', started], {
        env: TERMINAL,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    };
    const tested = once(shell(/^ {2}(.* mp webhook test .*)$/m), 'close');
    const listening = shell(/^ {2}(.* mp listen .*)$/m);
    try {
      let printed = '';
      listening.stdout.on('data', chunk => {
        printed += chunk;
      });
      await vi.waitUntil(() => printed.includes('WEBHOOK_SECRET'), { timeout: 40_000 });
      const [, secret = ''] = /WEBHOOK_SECRET='(\S+)'/.exec(printed) ?? [];
      const create = shell(/^ {2}(.* mp request .*)$/m);
      expect(await once(create, 'close')).toEqual([0, null]);
      expect(await tested).toEqual([0, null]);
      await receiver.received(2);
      const told = receiver.requests.find(({ event }) => !event.id.startsWith(TEST_ID_PREFIX));
      const { headers = {}, body = '' } = told ?? {};
      const event = verifyWebhook({ headers, body, secret });
      expect(event.type).toBe('payment_prompt.created');
      // The guide on nodes extracts the payment's ID with this.
      const guide = readFileSync(
        join(ROOT, 'src/surfaces/docs/guides/operating/try-chains.md'),
        'utf8',
      );
      const [, newest = ''] = /^ID=\$\((npx --no mp .*)\)$/m.exec(guide) ?? [];
      const id = execFileSync(
        'sh',
        ['-c', newest.replace('npx --no mp', `node ${ROOT}/src/cli.ts`)],
        {
          env: { ...TERMINAL, DATA_DIRECTORY: directory },
        },
      );
      expect(id.toString().trim()).toBe(event.data.id);
      const ended = once(listening, 'close');
      listening.kill('SIGINT');
      expect(await ended).toEqual([0, null]);
    } finally {
      listening.kill('SIGKILL');
      await receiver.close();
    }
  });

  test('and commands use the database with a role that owns nothing', async () => {
    const partner = ['partner', 'create', '--name', 'Group', '--json'];
    const made = await mp(partner, { DATA_DIRECTORY: directory, MASTER_KEY: undefined });
    expect(made).toMatchObject({ status: 0, err: '' });
    const { rows } = await sql<{ role: string; sessions: number }>`
      select usename as role, count(*) as sessions from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend'
        and pid <> pg_backend_pid() group by role`.execute(owner);
    expect(rows).toEqual([{ role: 'eps_service', sessions: expect.any(Number) }]);
    const tables = await sql`
      select from pg_class where relowner = 'eps_service'::regrole`.execute(owner);
    expect(tables.rows).toEqual([]);
  });

  test('withdraws its address when it ends', async () => {
    expect(existsSync(join(directory, 'service.json'))).toBe(true);
    service.kill('SIGINT');
    expect(await once(service, 'exit')).toEqual([0, null]);
    expect(existsSync(join(directory, 'service.json'))).toBe(false);
    const late = await mp(['request', 'GET', '/external/v1/payments'], {
      DATA_DIRECTORY: directory,
    });
    expect(late.err).toMatch(/^No service is running on /);
  });
});
