import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { findWrongMode } from '#signing/redis-mode.ts';
import { createRedisNonces } from '#signing/redis-nonces.ts';
import { judge, signNow } from '../helpers/nonce-claims.ts';
import { SENTINEL_MISSING } from '../helpers/redis-sentinel.ts';
import { freePort, launchRedis, REDIS_MISSING } from '../helpers/redis-server.ts';
import { SOON } from '../helpers/soon.ts';

const KEY = 'mpk_0123456789abcdef01234567';
const missing = inject('redisServer') === null ? REDIS_MISSING : SENTINEL_MISSING;

const MAKE_CERTIFICATE = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=redis
  -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem`;
/** The service's permissions. */
const USER = ['app', 'on', '>of-app', '~mp:nonce:*', '+@all'];

/** Each server listens with TLS only, and requires a user and a password. */
describe.skipIf(missing !== null)(missing ?? 'rediss: with a user', () => {
  let directory: string;
  let settings: Record<string, string>;
  const trusted = tls.getCACertificates('default');
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'eps-redis-tls-'));
    execFileSync('openssl', MAKE_CERTIFICATE.split(/\s+/), { cwd: directory, stdio: 'ignore' });
    settings = {
      'tls-cert-file': join(directory, 'cert.pem'),
      'tls-key-file': join(directory, 'key.pem'),
      'tls-ca-cert-file': join(directory, 'cert.pem'),
      'tls-auth-clients': 'no',
      'tls-replication': 'yes',
      dir: directory,
    };
    tls.setDefaultCACertificates([...trusted, await readFile(join(directory, 'cert.pem'), 'utf8')]);
  });
  afterAll(async () => {
    tls.setDefaultCACertificates(trusted);
    await rm(directory, { recursive: true });
  });

  async function launch(more: Record<string, string> = {}): Promise<number> {
    const port = await freePort();
    const all = Object.entries({ ...settings, 'tls-port': String(port), ...more });
    const server = await launchRedis(
      await freePort(),
      all.flatMap(([name, value]) => [`--${name}`, value]),
    );
    onTestFinished(() => server.stop());
    const operator = operate(port);
    await operator.call('ACL', 'SETUSER', ...USER);
    await operator.call('ACL', 'SETUSER', 'default', 'off');
    return port;
  }
  function operate(port: number): Redis {
    const operator = new Redis(port, '127.0.0.1', { tls: {} });
    onTestFinished(() => operator.disconnect());
    return operator;
  }
  async function expectToKeepNonces(url: string): Promise<void> {
    expect(await findWrongMode(url)).toBeNull();
    const nonces = createRedisNonces(url, { clock: Date.now, onError: () => undefined });
    onTestFinished(() => nonces.close());
    await vi.waitFor(async () => expect(await judge(nonces, signNow(KEY))).toBe('executed'), SOON);
    const wrong = createRedisNonces(url.replaceAll('of-app', 'other'), {
      clock: Date.now,
      onError: () => undefined,
    });
    onTestFinished(() => wrong.close());
    expect(await judge(wrong, signNow(KEY))).toBe('unknown');
  }

  test('leads to one server', async () => {
    await expectToKeepNonces(`rediss://app:of-app@127.0.0.1:${await launch()}`);
  });

  test('leads to a cluster', async () => {
    const port = await launch({
      'cluster-enabled': 'yes',
      'cluster-port': String(await freePort()),
      'cluster-announce-ip': '127.0.0.1',
      'tls-cluster': 'yes',
    });
    const operator = new Redis(port, '127.0.0.1', {
      tls: {},
      username: 'app',
      password: 'of-app',
    });
    onTestFinished(() => operator.disconnect());
    await operator.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
    await expectToKeepNonces(`rediss://app:of-app@127.0.0.1:${port}?mode=cluster`);
  });

  test('leads to sentinels, with their own user and password', async () => {
    const master = await launch({ 'repl-diskless-sync-delay': '0' });
    // Nonces are claimed only on a master with a replica.
    await launch({ replicaof: `127.0.0.1 ${master}`, masteruser: 'app', masterauth: 'of-app' });
    const port = await freePort();
    const lines = Object.entries({ ...settings, port: '0', 'tls-port': String(port) }).map(
      ([name, value]) => `${name} ${value}`,
    );
    lines.push(
      `sentinel monitor main 127.0.0.1 ${master} 1`,
      'sentinel auth-user main app',
      'sentinel auth-pass main of-app',
      'user watched on >of-watched ~* &* +@all',
      'user default off',
    );
    await writeFile(join(directory, 'sentinel.conf'), `${lines.join('\n')}\n`);
    const sentinel = spawn('redis-sentinel', [join(directory, 'sentinel.conf')], {
      stdio: 'ignore',
    });
    const ended = once(sentinel, 'exit');
    onTestFinished(async () => {
      sentinel.kill('SIGKILL');
      await ended;
    });
    const login = 'sentinel_username=watched&sentinel_password=of-watched';
    const url = `rediss://app:of-app@127.0.0.1:${port}?mode=sentinel&name=main&${login}`;
    await expectToKeepNonces(url);
  });
});
