import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';
import { freePort } from '../helpers/redis-server.ts';
import { clusterMissing } from './cluster/programs.ts';
import { createTwoRoles, type TwoRoles } from './two-roles.ts';
import { directivesOf, parseLines } from './unit-files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/systemd');
const UNITS = readdirSync(FOLDER).filter(name => name.endsWith('.service'));
const GUIDE = readFileSync(join(ROOT, 'src/surfaces/docs/guides/operating/deploy.md'), 'utf8');
/** Paths of the guide, which differ in the tests. */
const CODE = '/opt/external-payments';
const SETTINGS = '/etc/external-payments';
const START_MS = 40_000;

let directory: string;
let database: TwoRoles;
let port: number;
const metrics = new Map<string, number>();

/** A file of the folder, adapted to this checkout and the test's settings. */
function here(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8')
    .replaceAll(CODE, ROOT)
    .replaceAll(SETTINGS, join(directory, 'settings'));
}

/** The values of a directive of a unit, in order. */
const valuesOf = (unit: string, directive: string) => directivesOf(here(unit), directive);

/** The environment that systemd gives a unit's process. */
function environmentOf(unit: string): Record<string, string> {
  const files = valuesOf(unit, 'EnvironmentFile').map(path => readFileSync(path, 'utf8'));
  const credentials = join(directory, 'credentials');
  mkdirSync(credentials, { recursive: true });
  for (const credential of valuesOf(unit, 'LoadCredential')) {
    const [name = '', path = ''] = credential.split(':');
    writeFileSync(join(credentials, name), readFileSync(path));
  }
  return {
    ...COMPILE_CACHE,
    ...parseLines(valuesOf(unit, 'Environment').map(line => line.replace('%d', credentials))),
    ...parseLines(files.join('\n').split('\n')),
    // On a machine of its own, the units' ports are free.
    PORT: String(port),
    ...(metrics.has(unit) ? { METRICS_PORT: String(metrics.get(unit)) } : {}),
  };
}

/** Starts the command of a unit. */
function start(unit: string) {
  const [command = '', ...args] = valuesOf(unit, 'ExecStart')[0]?.split(' ') ?? [];
  const [cwd = ''] = valuesOf(unit, 'WorkingDirectory');
  const ended = promisify(execFile)(command, args, { cwd, env: environmentOf(unit) });
  return { child: ended.child, ended };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'eps-systemd-'));
  database = await createTwoRoles();
  port = await freePort();
  metrics.set('eps-api.service', await freePort());
  metrics.set('eps-worker.service', await freePort());
});
afterAll(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
test.skipIf(!hasAnalyze)('systemd finds nothing wrong with the units', () => {
  const folder = join(directory, 'units');
  mkdirSync(folder);
  for (const unit of UNITS) writeFileSync(join(folder, unit), here(unit));
  // Systemd checks for their programs, which not every machine has.
  const cluster =
    clusterMissing() === undefined ? globSync(join(ROOT, 'deploy/patroni/*.service')) : [];
  const paths = [...UNITS.map(unit => join(folder, unit)), ...cluster];
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...paths], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('the API runs as in the image', () => {
  const [, command = '[]'] =
    /^CMD (.*)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
  const [, ...args]: string[] = JSON.parse(command);
  expect(valuesOf('eps-api.service', 'ExecStart')).toEqual([
    `${ROOT}/node_modules/.bin/node ${args.join(' ')}`,
  ]);
});

test('API and worker start without the migrations, and both are restarted until the database is available', () => {
  for (const unit of ['eps-api.service', 'eps-worker.service']) {
    // A required unit would have to start, and systemd does not retry that.
    for (const directive of ['Requires', 'BindsTo', 'Requisite']) {
      expect(valuesOf(unit, directive)).toEqual([]);
    }
    expect(valuesOf(unit, 'Wants')).toEqual(['eps-migrate.service']);
    expect(valuesOf(unit, 'After')[0]?.split(' ')).toContain('eps-migrate.service');
    expect(valuesOf(unit, 'Restart')).toEqual(['always']);
    // Systemd gives up after more than five starts in ten seconds.
    expect(Number(valuesOf(unit, 'RestartSec')[0])).toBeGreaterThanOrEqual(2);
  }
  expect(valuesOf('eps-migrate.service', 'StartLimitIntervalSec')).toEqual(['0']);
});

test('the guide creates the secrets, readable by the service alone, and installs every file', () => {
  const blocks = [...GUIDE.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  const [secrets = ''] = blocks.filter(block => block.includes('install -d -m 750'));
  const settings = join(directory, 'settings');
  const script = secrets.replaceAll(CODE, ROOT).replaceAll(SETTINGS, settings);
  // Neither the group nor PostgreSQL's own user needs to exist.
  const stubs =
    'chgrp() { :; }; install() { shift 5; mkdir -p -m 750 "$@"; }; runuser() { echo "$@"; }';
  const printed = execFileSync('sh', ['-ec', `${stubs}\n${script}`], { encoding: 'utf8' });
  expect(readFileSync(join(settings, 'environment'), 'utf8')).toContain(`=${SETTINGS}/secrets/`);
  writeFileSync(join(settings, 'environment'), here('environment'));
  const owner = new URL(readFileSync(join(settings, 'migration_database_url'), 'utf8').trim());
  expect(printed).toContain(`create role eps login createrole password '${owner.password}'`);
  expect(printed).toContain('create database eps owner eps');
  for (const [file, mode] of [
    ['migration_database_url', 0o600],
    ['secrets/database_url', 0o640],
    ['secrets/master_key', 0o640],
    ['secrets', 0o750],
  ] as const) {
    expect(statSync(join(settings, file)).mode & 0o777, file).toBe(mode);
  }
  const config = readConfig(environmentOf('eps-api.service'));
  expect(config).toMatchObject({
    environment: 'production',
    migrationUrl: null,
    simulation: false,
    databaseUrl: expect.stringMatching(/^postgres:\/\/eps_service:\w{48}@127\.0\.0\.1:5432\/eps$/),
  });
  expect(readConfig(environmentOf('eps-migrate.service')).migrationUrl).toBe(owner.href);
  for (const line of [
    'deploy/systemd/*.service',
    'deploy/systemd/mp',
    ':9464/readyz',
    ':9465/readyz',
  ]) {
    expect(GUIDE).toContain(line);
  }
});

describe('the units’ commands', () => {
  beforeAll(() => {
    // From here on with the tests' own PostgreSQL.
    const settings = join(directory, 'settings');
    writeFileSync(join(settings, 'secrets/database_url'), database.serviceUrl);
    writeFileSync(join(settings, 'migration_database_url'), database.ownerUrl);
  });

  test('migrate, serve, work, and stop gracefully', async () => {
    const migration = await start('eps-migrate.service').ended;
    expect(migration.stdout).toContain('0001_networks');
    const units = ['eps-api.service', 'eps-worker.service'] as const;
    const running = units.map(unit => ({ unit, ...start(unit) }));
    const left = running.map(({ ended }) =>
      ended.then(
        () => 'ended',
        error => String(error),
      ),
    );
    try {
      for (const { unit } of running) await becomesReady(metrics.get(unit) ?? 0, left);
      const docs = await fetch(`http://127.0.0.1:${port}/docs/operating/go-live`);
      expect(docs.status).toBe(200);
    } finally {
      for (const { child } of running) child.kill('SIGTERM');
    }
    expect(await Promise.all(left)).toEqual(['ended', 'ended']);
  });

  test('use the same database as mp, in the name of its caller', async () => {
    const script = join(directory, 'mp');
    writeFileSync(script, here('mp'), { mode: 0o755 });
    const mp = async (...args: string[]) => {
      const env = { PATH: process.env.PATH, SUDO_USER: 'grace', ...COMPILE_CACHE };
      const { stdout } = await promisify(execFile)(script, [...args, '--json'], { env });
      return JSON.parse(stdout);
    };
    const create = ['merchant', 'create', '--name', 'Blue Coffee', '--email', 'hi@coffee.example'];
    const { id } = await mp(...create);
    expect(await mp('audit', '--object', id, '--limit', '1')).toMatchObject([{ actor: 'grace' }]);
  });
});

async function becomesReady(where: number, left: readonly Promise<string>[]): Promise<void> {
  const giveUpAt = Date.now() + START_MS;
  const isReady = () =>
    fetch(`http://127.0.0.1:${where}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    const ended = await Promise.race([...left, sleep(20, undefined)]);
    if (ended !== undefined || Date.now() > giveUpAt) throw new Error(`not ready: ${ended}`);
  }
}
