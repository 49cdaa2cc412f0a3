import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { findWarnings } from '#config/conflicts.ts';
import { SECRET_VARIABLES } from '#config/secret-files.ts';
import { serverUrls } from '#config/server-urls.ts';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';
import { problemsOf } from '../helpers/config-problems.ts';

const KEY = randomBytes(32).toString('base64');
const OTHER_KEY = randomBytes(32).toString('base64');

const VALID_SECRETS: Record<(typeof SECRET_VARIABLES)[number], string> = {
  DATABASE_URL: 'postgres://u:p@h/other',
  DATABASE_DIRECT_URL: 'postgres://u:p@direct/d',
  DATABASE_REPORTS_URL: 'postgres://u:p@reports/d',
  MIGRATION_DATABASE_URL: 'postgres://owner:p@h/d',
  REDIS_URL: 'redis://:p@h',
  SMTP_URL: 'smtps://u:p@mail.example.com',
  MASTER_KEY: OTHER_KEY,
  MASTER_KEYS_PREVIOUS: OTHER_KEY,
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
};

test('an empty environment has the documented defaults', () => {
  expect(readConfig({})).toMatchObject({
    environment: 'development',
    simulation: true,
    rates: 'fixed',
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://127.0.0.1:3000',
    trustProxy: false,
    trustProxyHeader: 'x-forwarded-for',
    databaseUrl: null,
    databaseDirectUrl: null,
    databasePoolSize: 10,
    migrationUrl: null,
    reportsUrl: null,
    reportsPoolSize: 4,
    redisUrl: null,
    masterKeys: [],
    processor: { name: 'sandbox' },
    rateLimitMax: 60,
    rateLimitWindowSeconds: 60,
    requestsInFlightMax: 500,
    retentionDays: 90,
    requestLog: 'failures',
    logLevel: 'info',
    metrics: null,
    otlpEndpoint: null,
    dataDirectory: join(import.meta.dirname, '../..', '.data'),
  });
});

test('empty values count as unset', () => {
  const names = ['NODE_ENV', 'HOST', 'PORT', 'PUBLIC_URL', 'TRUST_PROXY', 'DATABASE_URL'];
  names.push('DATABASE_POOL_SIZE', 'REDIS_URL', 'MASTER_KEY', 'MASTER_KEYS_PREVIOUS');
  names.push('RATE_LIMIT_MAX', 'RATE_LIMIT_WINDOW_SECONDS', 'LOG_LEVEL', 'DATA_DIRECTORY');
  expect(readConfig(Object.fromEntries(names.map(name => [name, ''])))).toEqual(readConfig({}));
});

describe('every variable is read', () => {
  test.each([
    ['NODE_ENV', 'test', { environment: 'test' }],
    ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['HOST', '::', { host: '::' }],
    ['HOST', 'api.internal', { host: 'api.internal' }],
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65535, publicUrl: 'http://127.0.0.1:65535' }],
    ['PUBLIC_URL', 'https://pay.example.com', { publicUrl: 'https://pay.example.com' }],
    ['PUBLIC_URL', 'https://pay.example.com/', { publicUrl: 'https://pay.example.com' }],
    ['PUBLIC_URL', 'https://example.com/pay//', { publicUrl: 'https://example.com/pay' }],
    ['PUBLIC_URL', 'HTTPS://Pay.Example.com:443', { publicUrl: 'https://pay.example.com' }],
    ['TRUST_PROXY', '2', { trustProxy: 2 }],
    ['TRUST_PROXY', 'false', { trustProxy: false }],
    [
      'TRUST_PROXY',
      'loopback, 10.0.0.0/8,::1/128',
      { trustProxy: ['loopback', '10.0.0.0/8', '::1/128'] },
    ],
    ['DATABASE_URL', 'postgres://u:p@h/d', { databaseUrl: 'postgres://u:p@h/d' }],
    ['METRICS_PORT', '9464', { metrics: { host: '127.0.0.1', port: 9464 } }],
    ['METRICS_HOST', '0.0.0.0', { metrics: null }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://otel:4318/', { otlpEndpoint: 'http://otel:4318' }],
    ['DATABASE_URL', 'postgresql://h/d', { databaseUrl: 'postgresql://h/d' }],
    ['DATABASE_POOL_SIZE', '1', { databasePoolSize: 1 }],
    ['DATABASE_POOL_SIZE', '1000', { databasePoolSize: 1000 }],
    ['REDIS_URL', 'redis://h', { redisUrl: 'redis://h' }],
    ['REDIS_URL', 'rediss://u:p@h:6380/1', { redisUrl: 'rediss://u:p@h:6380/1' }],
    ['MASTER_KEY', KEY, { masterKeys: [Buffer.from(KEY, 'base64')] }],
    ['MASTER_KEY', ` ${KEY.replace('=', '')} `, { masterKeys: [Buffer.from(KEY, 'base64')] }],
    ['RATE_LIMIT_MAX', '1', { rateLimitMax: 1 }],
    ['RATE_LIMIT_WINDOW_SECONDS', '86400', { rateLimitWindowSeconds: 86400 }],
    ['REQUESTS_IN_FLIGHT_MAX', '1', { requestsInFlightMax: 1 }],
    ['RETENTION_DAYS', '7', { retentionDays: 7 }],
    ['REQUEST_LOG', 'all', { requestLog: 'all' }],
    ['REQUEST_LOG', 'off', { requestLog: 'off' }],
    ['PANEL_ADDRESS_DELAY_HOURS', '168', { addressDelayHours: 168 }],
    [
      'BREACHED_PASSWORDS_URL',
      'https://breached.example/range/',
      { breachedPasswordsUrl: 'https://breached.example/range' },
    ],
    ['BREACHED_PASSWORDS_URL', 'http://[::1]:8080', { breachedPasswordsUrl: 'http://[::1]:8080' }],
    ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
    ['DATA_DIRECTORY', '/var/lib/payments', { dataDirectory: '/var/lib/payments' }],
    ['DATA_DIRECTORY', 'data', { dataDirectory: join(process.cwd(), 'data') }],
  ])('%s=%s', (name, value, expected) => {
    expect(readConfig({ [name]: value })).toMatchObject(expected);
  });

  test('former master keys follow the current one', () => {
    const { masterKeys } = readConfig({
      MASTER_KEY: KEY,
      MASTER_KEYS_PREVIOUS: `${OTHER_KEY}, ${KEY}`,
    });
    expect(masterKeys.map(key => key.toString('base64'))).toEqual([KEY, OTHER_KEY, KEY]);
  });
});

describe('an invalid value is reported with its meaning and valid values', () => {
  test.each([
    ['NODE_ENV', 'Production', 'development, test, production'],
    ['HOST', 'not a host', 'IP address or a hostname'],
    ['HOST', 'http://h', 'IP address or a hostname'],
    ['PORT', '65536', '0 to 65535'],
    ['PORT', '-1', '0 to 65535'],
    ['PORT', '80.5', '0 to 65535'],
    ['PORT', '0x50', '0 to 65535'],
    ['PORT', ' 80', '0 to 65535'],
    ['RETENTION_DAYS', '6', '7 to 36500'],
    ['PANEL_ADDRESS_DELAY_HOURS', '169', '0 to 168'],
    ['PUBLIC_URL', 'pay.example.com', 'http or https URL'],
    ['PUBLIC_URL', 'ftp://pay.example.com', 'http or https URL'],
    ['PUBLIC_URL', 'https://pay.example.com/?a=b', 'without query or fragment'],
    ['PUBLIC_URL', 'https://pay.example.com/?', 'without query or fragment'],
    ['PUBLIC_URL', 'https://pay.example.com/#', 'without query or fragment'],
    ['TRUST_PROXY', 'yes', 'false'],
    ['TRUST_PROXY_HEADER', 'x-real-ip', 'one of x-forwarded-for, forwarded'],
    ['TRUST_PROXY', 'true', 'false'],
    ['TRUST_PROXY', '0', 'false'],
    ['TRUST_PROXY', '10', 'networks'],
    ['TRUST_PROXY', '10.0.0.0/33', 'networks'],
    ['TRUST_PROXY', '0.0.0.0/0', 'networks'],
    ['TRUST_PROXY', '0.0.0.0/1,128.0.0.0/1', 'networks'],
    ['TRUST_PROXY', '::/0', 'networks'],
    ['TRUST_PROXY', 'fe80::1%eth0', 'networks'],
    ['TRUST_PROXY', '10.0.0.1,', 'networks'],
    ['TRUST_PROXY', '::1/129', 'networks'],
    ['TRUST_PROXY', '10.0.0.0/8/8', 'networks'],
    ['DATABASE_POOL_SIZE', '0', '1 to 1000'],
    ['DATABASE_REPORTS_POOL_SIZE', '1001', '1 to 1000'],
    ['RATE_LIMIT_MAX', '0', '1 to 100000000'],
    ['RATE_LIMIT_WINDOW_SECONDS', '86401', '1 to 86400'],
    ['REQUESTS_IN_FLIGHT_MAX', '0', '1 to 100000'],
    ['REQUEST_LOG', 'errors', 'all, failures'],
    ['LOG_LEVEL', 'verbose', 'fatal, error'],
    ['BREACHED_PASSWORDS_URL', 'http://breached.example/range', 'an https URL'],
    ['BREACHED_PASSWORDS_URL', 'https://breached.example/?range=', 'an https URL'],
    ['METRICS_PORT', '65536', '0 to 65535'],
    ['METRICS_HOST', 'http://h', 'IP address or a hostname'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'http or https URL'],
    ['LOG_LEVEL', 'info\nMASTER_KEY is fine', 'fatal, error'],
  ])('%s=%j', (name, value, takes) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${name} is ${JSON.stringify(value)}`);
    expect(problems[0]).toContain(takes);
  });

  test.each([
    ['DATABASE_URL', 'mysql://user:hunter2@db/payments', 'postgres://'],
    ['DATABASE_URL', 'hunter2', 'postgres://'],
    ['DATABASE_REPORTS_URL', 'hunter2', 'postgres://'],
    ['REDIS_URL', 'http://:hunter2@cache', 'redis://'],
    ['MASTER_KEY', 'hunter2', '32 bytes in base64'],
    ['MASTER_KEY', `${KEY.slice(0, -2)}hunter2`, '32 bytes in base64'],
    ['MASTER_KEY', `hunter2,${KEY}`, '32 bytes in base64'],
  ])('%s without repeating its secret', (name, value, takes) => {
    const problems = problemsOf({ [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${name} is a value of ${value.length} characters`);
    expect(problems[0]).toContain(takes);
    expect(problems[0]).not.toContain('hunter2');
  });

  test('a password in the URL of any other variable is not repeated either', () => {
    const [problem] = problemsOf({ PUBLIC_URL: 'https://user:hunter2@pay.example.com' });
    expect(problem).toContain('pay.example.com');
    expect(problem).not.toContain('hunter2');
  });

  test('former master keys', () => {
    for (const previous of ['hunter2', `${KEY},`, `${KEY},hunter2`, Array(21).fill(KEY).join()]) {
      const problems = problemsOf({ MASTER_KEY: KEY, MASTER_KEYS_PREVIOUS: previous });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain('MASTER_KEYS_PREVIOUS');
      expect(problems[0]).not.toContain('hunter2');
    }
    expect(problemsOf({ MASTER_KEYS_PREVIOUS: KEY })).toHaveLength(1);
  });

  test('all of them at once, one line each', () => {
    const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'x', REDIS_URL: 'x', MASTER_KEY: 'x' });
    const names = problems.map(problem => problem.split(' ')[0]);
    expect(names.toSorted()).toEqual(['LOG_LEVEL', 'MASTER_KEY', 'PORT', 'REDIS_URL']);
  });
});

describe('a secret in a file', () => {
  const files: Record<string, string> = { '/run/key': `${KEY}\n`, '/run/empty': '\r\n' };
  const readFile = (path: string) => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  };

  test.each(SECRET_VARIABLES)('%s', name => {
    const value = VALID_SECRETS[name];
    const env = {
      DATABASE_URL: 'postgres://h/d',
      MASTER_KEY: KEY,
      PROCESSOR: 'stripe',
      STRIPE_SECRET_KEY: 'sk_test_0',
      STRIPE_WEBHOOK_SECRET: 'whsec_0',
      MAIL_FROM: 'payments@example.com',
    };
    const file = { [name]: undefined, [`${name}_FILE`]: '/run/it' };
    const read = readConfig({ ...env, ...file }, () => `${value}\n`);
    expect(read).toEqual(readConfig({ ...env, [name]: value }));
    expect(read).not.toEqual(readConfig(env));
  });

  test('works like one in the environment in production', () => {
    const directory = mkdtempSync(join(tmpdir(), 'eps-config-'));
    const MASTER_KEY_FILE = join(directory, 'master_key');
    writeFileSync(MASTER_KEY_FILE, `${KEY}\n`);
    const env = { NODE_ENV: 'production', PUBLIC_URL: 'https://pay.example.com' };
    const { masterKeys } = readConfig({ ...env, DATABASE_URL: 'postgres://h/d', MASTER_KEY_FILE });
    rmSync(directory, { recursive: true });
    expect(masterKeys).toEqual([Buffer.from(KEY, 'base64')]);
  });

  test('that is empty counts as unset, and other variables have no files', () => {
    expect(readConfig({ MASTER_KEY_FILE: '/run/empty', PORT_FILE: '/none' }, readFile)).toEqual(
      readConfig({}),
    );
  });

  test('that cannot be read, or whose variable is set as well, is named without its value', () => {
    expect(problemsOf({ MASTER_KEY_FILE: '/run/none', PORT: 'x' })).toEqual([
      'MASTER_KEY_FILE is "/run/none", which cannot be read (ENOENT).',
      expect.stringContaining('PORT is "x"'),
    ]);
    const twice = () =>
      readConfig({ MASTER_KEY: OTHER_KEY, MASTER_KEY_FILE: '/run/key' }, readFile);
    expect(twice).toThrow('MASTER_KEY and MASTER_KEY_FILE are both set; set one of them.');
    const wrong = () => readConfig({ DATABASE_URL_FILE: '/run/key' }, readFile);
    expect(wrong).toThrow(`DATABASE_URL is a value of ${KEY.length} characters, but must be`);
  });
});

test.each(['DATABASE_DIRECT_URL', 'MIGRATION_DATABASE_URL'])(
  '%s requires DATABASE_URL, and its secret is not repeated',
  name => {
    expect(problemsOf({ [name]: 'postgres://h/d' })).toEqual([
      `${name} is set without DATABASE_URL; set both.`,
    ]);
    const problems = problemsOf({ [name]: 'hunter2', DATABASE_URL: 'postgres://h/d' });
    expect(problems).toEqual([
      `${name} is a value of 7 characters, but must be a postgres:// URL of one or several servers that take writes.`,
    ]);
  },
);

test('metrics need a port of their own', () => {
  const [problem] = problemsOf({ PORT: '3000', METRICS_PORT: '3000' });
  expect(problem).toMatch(/^METRICS_PORT is 3000, which is PORT/);
  expect(readConfig({ PORT: '0', METRICS_PORT: '0' }).metrics?.port).toBe(0);
});

test('production needs a database, a public URL and a master key of its own', () => {
  const needed = {
    DATABASE_URL: 'postgres://h/d',
    PUBLIC_URL: 'https://pay.example.com',
    MASTER_KEY: KEY,
  };
  const production = { NODE_ENV: 'production', ...needed };
  expect(readConfig(production).environment).toBe('production');
  for (const name of Object.keys(needed)) {
    expect(problemsOf({ ...production, [name]: '' })).toEqual([
      expect.stringMatching(`^${name} is not set, but production needs it`),
    ]);
  }
});

describe('simulation', () => {
  const own = { DATABASE_URL: 'postgres://h/d' };
  const real = { simulation: false, rates: 'live', processor: null };
  const simulated = { simulation: true, rates: 'fixed', processor: { name: 'sandbox' } };

  test.each([
    ['the embedded database', {}, simulated],
    ['the embedded database with SIMULATION=off', { SIMULATION: 'off' }, real],
    ['a database of its own, with NODE_ENV forgotten', own, real],
    ['a database of its own, for tests', { ...own, NODE_ENV: 'test' }, real],
    ['a database of its own with SIMULATION=on', { ...own, SIMULATION: 'on' }, simulated],
  ])('on %s', (_name, env, expected) => {
    expect(readConfig(env)).toMatchObject(expected);
  });

  test.each([
    ['PROCESSOR', 'sandbox'],
    ['RATES', 'fixed'],
  ])('%s=%s needs it', (name, value) => {
    for (const env of [own, { SIMULATION: 'off' }]) {
      expect(problemsOf({ ...env, [name]: value })).toEqual([
        expect.stringMatching(`^${name} is "${value}", .* SIMULATION=on`),
      ]);
    }
    expect(problemsOf({ ...own, SIMULATION: 'on', [name]: value })).toEqual([]);
  });

  test('is refused in production', () => {
    const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://h', MASTER_KEY: KEY, ...own };
    expect(problemsOf({ ...production, SIMULATION: 'on' })).toEqual([
      expect.stringMatching(/^SIMULATION is "on", but production/),
    ]);
    expect(readConfig({ ...production, SIMULATION: 'off' }).simulation).toBe(false);
  });
});

describe('mail', () => {
  const from = { name: '', address: 'payments@example.com' };
  const credentials = { user: 'ada', password: 'p@ss' };
  test.each([
    [
      'smtps://ada:p%40ss@mail.example.com',
      { host: 'mail.example.com', port: 465, tls: 'implicit', credentials },
    ],
    [
      'smtp://mail.example.com',
      { host: 'mail.example.com', port: 587, tls: 'starttls', credentials: null },
    ],
    ['smtp://[::1]:25', { host: '::1', port: 25, tls: 'none', credentials: null }],
    ['smtps://127.0.0.1:2465/', { host: '127.0.0.1', port: 2465, tls: 'implicit' }],
  ])('is sent through %s', (url, server) => {
    const { mail } = readConfig({ SMTP_URL: url, MAIL_FROM: from.address });
    expect(mail).toMatchObject({ server, from });
  });

  test('may come from a named sender', () => {
    const { mail } = readConfig({
      SMTP_URL: 'smtp://h',
      MAIL_FROM: 'Blue Payments, Ltd. <payments@example.com>',
    });
    expect(mail?.from).toEqual({ ...from, name: 'Blue Payments, Ltd.' });
  });

  test.each([
    ['https://mail.example.com', 'an smtps:// or smtp:// URL'],
    ['smtp://mail.example.com/?tls=off', 'without path or query'],
    ['smtp://ada@mail.example.com', 'an smtps:// or smtp:// URL'],
    ['smtp://%E0:p@mail.example.com', 'an smtps:// or smtp:// URL'],
  ])('is not sent through %s', (url, takes) => {
    const problems = problemsOf({ SMTP_URL: url, MAIL_FROM: from.address });
    expect(problems).toEqual([expect.stringContaining(takes)]);
    expect(problems[0]).toMatch(/^SMTP_URL is a value of \d+ characters, but must be /);
  });

  test.each(['Payments', 'a@example.com, b@example.com', 'A <a@example.com> <b@example.com>'])(
    'does not come from %s',
    text => {
      expect(problemsOf({ SMTP_URL: 'smtp://h', MAIL_FROM: text })).toEqual([
        expect.stringContaining(
          `MAIL_FROM is ${JSON.stringify(text)}, but must be an e-mail address`,
        ),
      ]);
    },
  );

  test('needs a server, a sender and a panel', () => {
    expect(readConfig({ MAIL_FROM: from.address }).mail).toBeNull();
    expect(problemsOf({ SMTP_URL: 'smtp://h' })).toEqual([
      'SMTP_URL is set without MAIL_FROM; set both.',
    ]);
    const own = { DATABASE_URL: 'postgres://h/d', PUBLIC_URL: 'https://h', MASTER_KEY: KEY };
    const production = { NODE_ENV: 'production', ...own };
    expect(problemsOf({ ...production, SMTP_URL: 'smtp://h', MAIL_FROM: from.address })).toEqual([
      'SMTP_URL is set without PANEL_URL; mail leads to the panel.',
    ]);
  });
});

test('in production secrets are not sent over http', () => {
  const own = { DATABASE_URL: 'postgres://h/d', PUBLIC_URL: 'https://h', MASTER_KEY: KEY };
  for (const name of ['PUBLIC_URL', 'PANEL_URL', 'BREACHED_PASSWORDS_URL']) {
    const production = { NODE_ENV: 'production', ...own, [name]: 'http://localhost' };
    expect(problemsOf(production)).toEqual([
      expect.stringMatching(`^${name} is an http URL, but production needs https`),
    ]);
  }
});

test('a process with an invalid configuration ends with the reasons and status 1', () => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../../src/server.ts')],
    { env: { ...COMPILE_CACHE, PORT: 'eighty', NODE_ENV: 'production' }, encoding: 'utf8' },
  );
  expect(status).toBe(1);
  for (const name of ['PORT', 'DATABASE_URL', 'PUBLIC_URL', 'MASTER_KEY'])
    expect(stderr).toContain(name);
  expect(JSON.parse(stdout)).toMatchObject({ level: 'fatal', msg: stderr.trimEnd() });
});

test('DATABASE_URL accepts several servers of one cluster, whose primary is used', () => {
  const several =
    'postgres://eps:a%40b@db1:5433,[::1]:5434,db3/eps?target_session_attrs=read-write';
  expect(readConfig({ DATABASE_URL: several }).databaseUrl).toBe(several);
  expect(serverUrls(several)).toEqual([
    'postgres://eps:a%40b@db1:5433/eps?target_session_attrs=read-write',
    'postgres://eps:a%40b@[::1]:5434/eps?target_session_attrs=read-write',
    'postgres://eps:a%40b@db3/eps?target_session_attrs=read-write',
  ]);
  for (const wrong of [
    several.replace('read-write', 'any'),
    'postgres://eps@db1,,db2/eps',
    'postgres://eps@db1:port,db2/eps',
    'mysql://eps@db1,db2/eps',
  ]) {
    expect(problemsOf({ DATABASE_URL: wrong })).toEqual([
      expect.stringMatching(/^DATABASE_URL .* must be a postgres:\/\/ URL of one or several/),
    ]);
  }
});

test('unsupported database options are refused', () => {
  expect(problemsOf({ DATABASE_DURABILITY: 'replicated' })).toEqual([
    'DATABASE_DURABILITY is "replicated" without DATABASE_URL; the embedded database has no standby.',
  ]);
  expect(problemsOf({ DATABASE_DURABILITY: 'both' })).toEqual([
    'DATABASE_DURABILITY is "both", but must be one of server, replicated.',
  ]);
  const poolers = { DATABASE_URL: 'postgres://a,b/eps', DATABASE_DIRECT_URL: 'postgres://c/eps' };
  expect(problemsOf(poolers)).toEqual([expect.stringContaining('name one pooler')]);
});

test('the log warns of dangerous but permitted settings', () => {
  const own = { DATABASE_URL: 'postgres://h/d', PUBLIC_URL: 'https://h', MASTER_KEY: KEY };
  const production = { NODE_ENV: 'production', ...own, PANEL_URL: 'https://h' };
  const warningsOf = (env: Record<string, string>) => findWarnings(readConfig(env));
  expect(warningsOf(production)).toEqual([]);
  const never = { PANEL_ADDRESS_DELAY_HOURS: '0' };
  expect(warningsOf({ ...production, ...never })).toEqual([
    expect.stringMatching(/^PANEL_ADDRESS_DELAY_HOURS is 0: /),
  ]);
  expect(warningsOf({ ...production, ...never, PANEL_URL: '' })).toEqual([]);
  expect(warningsOf({ ...own, ...never })).toEqual([]);
  expect(warningsOf({})).toEqual([expect.stringMatching(/^SIMULATION is on: /)]);
});
