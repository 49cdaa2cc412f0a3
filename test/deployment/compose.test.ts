import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { SECRET_VARIABLES } from '#config/secret-files.ts';
import { freePort, launchRedis, REDIS_MISSING } from '../helpers/redis-server.ts';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

const COMPOSE = read('compose.yaml');
const GUIDE = read('src/surfaces/docs/guides/operating/deploy.md');
const SERVICES = ['postgres', 'valkey', 'migrate', 'api', 'worker'];

/** Set in the image, where a shell's HOST or NODE_ENV must not leak in; PORT is the port outside. */
const OF_THE_IMAGE = ['NODE_ENV', 'HOST', 'PORT', 'METRICS_HOST'];
/** Refused or useless in production. */
const OF_DEVELOPMENT = ['DATA_DIRECTORY', 'RATES', 'SIMULATION', 'STRIPE_API_URL'];

/** The lines of a block, from its first line to the next one that is indented no deeper. */
function block(start: string): string {
  const lines = COMPOSE.split('\n');
  const first = lines.findIndex(line => line === start || line.startsWith(`${start} `));
  if (first === -1) throw new Error(`compose.yaml has no ${start}`);
  const indent = start.search(/\S/);
  const next = lines.findIndex(
    (line, n) => n > first && line !== '' && line.search(/\S/) <= indent,
  );
  return lines.slice(first, next === -1 ? undefined : next).join('\n');
}

const environment = block('  environment:');
const passed = [...environment.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name = '']) => name);

test('API and worker get every variable that is useful in production', () => {
  const variables = new Set<string>();
  readConfig(
    new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          if (!String(name).endsWith('_FILE')) variables.add(String(name));
          return undefined;
        },
      },
    ),
  );
  const left = [...OF_THE_IMAGE, ...OF_DEVELOPMENT, 'MIGRATION_DATABASE_URL'];
  const wanted = [...variables].filter(name => !left.includes(name));
  expect(passed.map(name => name.replace(/_FILE$/, '')).toSorted()).toEqual(wanted.toSorted());
  for (const service of ['api', 'worker']) {
    expect(block(`  ${service}:`)).toContain('<<: *service');
    expect(block(`  ${service}:`)).not.toMatch(/environment:|secrets:/);
  }
});

describe('secrets', () => {
  test('are files, and no service gets more than it needs', () => {
    const files = passed.filter(name => name.endsWith('_FILE'));
    expect(passed.filter(name => SECRET_VARIABLES.some(secret => secret === name))).toEqual([]);
    for (const name of files) {
      const file = name.replace(/_FILE$/, '').toLowerCase();
      expect(environment).toContain(`${name}: /run/secrets/${file}\n`);
      expect(block('x-service:')).toContain(`    - ${file}\n`);
      expect(block('  migrate:')).toMatch(new RegExp(`secrets: [^\\]]*\\b${file}\\b`));
    }
    const users = SERVICES.filter(name => block(`  ${name}:`).includes('migration_database_url'));
    expect(users).toEqual(['migrate']);
    expect(block('x-service:')).not.toMatch(/migration_database_url|postgres_password|valkey_conf/);
  });

  test('are created by the guide’s commands, in the format that the service accepts', () => {
    const [, commands = ''] = /```sh\n(mkdir .*?)\ncd \.\./s.exec(GUIDE) ?? [];
    const directory = mkdtempSync(join(tmpdir(), 'eps-compose-'));
    try {
      execFileSync('sh', ['-ec', commands], { cwd: directory });
      const listed = [
        ...block('secrets:').matchAll(/^ {2}(\w+): \{ file: \.\/secrets\/(\w+) \}$/gm),
      ];
      for (const [, name, file] of listed) expect(file).toBe(name);
      const made = readdirSync(join(directory, 'secrets'));
      expect(made.toSorted()).toEqual(listed.map(([, name]) => name).toSorted());
      const files = SECRET_VARIABLES.map(name => [
        `${name}_FILE`,
        join(directory, 'secrets', name.toLowerCase()),
      ]);
      const config = readConfig({
        NODE_ENV: 'production',
        PUBLIC_URL: 'https://pay.example.com',
        ...Object.fromEntries(files),
      });
      expect(config.databaseUrl).toMatch(/^postgres:\/\/eps_service:\w{48}@postgres:5432\/eps$/);
      expect(config.migrationUrl).toMatch(/^postgres:\/\/eps:\w{48}@postgres:5432\/eps$/);
      expect(config.redisUrl).toMatch(/^redis:\/\/:\w{48}@valkey:6379$/);
      expect(config.reportsUrl).toBeNull();
    } finally {
      rmSync(directory, { recursive: true });
    }
    expect(read('.gitignore')).toContain('\nsecrets/\n');
  });
});

test.skipIf(inject('redisServer') === null)(
  inject('redisServer') === null ? REDIS_MISSING : 'Valkey wants the password that the guide makes',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'eps-compose-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const made = /^echo "requirepass .*valkey_conf$/m.exec(GUIDE)?.[0] ?? '';
    execFileSync('sh', ['-ec', made], { cwd: directory });
    const local = (text: string) => text.replaceAll('/run/secrets', directory);
    const list = (pattern: RegExp) =>
      JSON.parse(`[${pattern.exec(block('  valkey:'))?.[1]}]`).map(local) as string[];
    const [program, file = '', ...settings] = list(/command: \[([^\]]+)\]/);
    expect(program).toBe('valkey-server');
    const port = await freePort();
    const redis = await launchRedis(port, ['--dir', directory, ...settings], file);
    onTestFinished(() => redis.stop());
    const operator = new Redis(redis.url);
    onTestFinished(() => operator.disconnect());
    await expect(operator.get('a')).rejects.toThrow('NOAUTH');
    const [, check = ''] = list(/test: \[(.+)\]/);
    const here = check.replaceAll('$$', '$').replace('valkey-cli', `redis-cli -p ${port}`);
    execFileSync('sh', ['-ec', here]);
    const wrong = here.replace('requirepass ', 'require');
    expect(() => execFileSync('sh', ['-ec', wrong], { stdio: 'ignore' })).toThrow();
  },
);

test.each(SERVICES)('%s has a memory limit, and its log is rotated', service => {
  const text = block(`  ${service}:`);
  expect(text).toMatch(/^ {4}mem_limit: \d+[mg]$/m);
  expect(text).toMatch(/<<: \*(common|service)/);
  expect(block('x-service:')).toContain('<<: *common');
  expect(block('x-common:')).toContain('max-size: ');
});

test('the images can be pinned as the guide says', () => {
  for (const [name, image] of [
    ['NODE_IMAGE', 'node:24-slim'],
    ['POSTGRES_IMAGE', 'postgres:18'],
    ['VALKEY_IMAGE', 'valkey/valkey:9'],
  ] as const) {
    expect(COMPOSE).toContain(`\${${name}:-${image}}`);
    expect(GUIDE).toContain(`docker pull ${image}`);
    expect(GUIDE).toContain(`\n${name}=${image}@sha256:…\n`);
  }
  const dockerfile = read('Dockerfile');
  expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:24-slim$/m);
  const stages = dockerfile.match(/^FROM .*$/gm) ?? [];
  expect(stages.filter(line => !/^FROM \$\{NODE_IMAGE\}( |$)/.test(line))).toEqual([]);
});

test('every stage of the image gets what it copies, and the first the folders that npm ci reads', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, paths = '']) => paths.split(' '),
  );
  const sent = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path);
  expect(new Set(copied)).toEqual(new Set(sent));
  const { devDependencies } = JSON.parse(read('package.json'));
  const folders = Object.values<string>(devDependencies).flatMap(version =>
    version.startsWith('file:') ? [version.slice('file:'.length)] : [],
  );
  expect(copied).toEqual(expect.arrayContaining(folders));
});
