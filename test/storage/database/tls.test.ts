import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { TLS_MODES } from '#config/database-tls.ts';
import { isUnavailable } from '#http/unavailable.ts';
import {
  type EmbeddedDatabase,
  openEmbeddedDatabase,
} from '#runtime/development/embedded-postgres.ts';
import { chooseAccount } from '#runtime/development/postgres-process.ts';
import { explainFailure } from '#runtime/explain-failure.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { leadsToPostgres } from '#storage/database/pooler-detection.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { findPrograms } from '../../deployment/archived-server.ts';
import { serverRoot } from '../../helpers/database-server.ts';

/** A server with a certificate of its own authority, for the name localhost and no IP address. */

let directory: string;
let server: EmbeddedDatabase;
let owner: Database;
const path = (name: string) => join(directory, name);

const openssl = (command: string) =>
  execFileSync('openssl', command.split(' '), { cwd: directory, stdio: 'pipe' });

function makeAuthority(name: string): void {
  openssl(
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.crt`,
  );
}

function certify(name: string, authority: string, subject: string): void {
  writeFileSync(path('names'), `subjectAltName=DNS:${subject}`);
  openssl(
    `req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=${subject} -keyout ${name}.key -out ${name}.csr`,
  );
  openssl(
    `x509 -req -in ${name}.csr -CA ${authority}.crt -CAkey ${authority}.key -days 2 -extfile names -out ${name}.crt`,
  );
}

/** Replaces the server's certificate. */
async function present(name: string): Promise<void> {
  const account = await chooseAccount(path('postgres'));
  for (const end of ['crt', 'key']) {
    copyFileSync(path(`${name}.${end}`), path(`presented.${end}`));
    chmodSync(path(`presented.${end}`), 0o600);
    if (account) chownSync(path(`presented.${end}`), account.uid, account.gid);
  }
}

const ROLES = ['anyhow', 'only_tls', 'only_plain', 'certified'] as const;

beforeAll(async () => {
  directory = mkdtempSync(join(serverRoot(), 'eps-tls-'));
  chmodSync(directory, 0o711);
  mkdirSync(path('home'));
  for (const name of ['authority', 'stranger']) makeAuthority(name);
  certify('server', 'authority', 'localhost');
  certify('changed', 'stranger', 'localhost');
  certify('client', 'authority', 'certified');
  writeFileSync(
    path('pg_hba.conf'),
    `host all eps all scram-sha-256
     host all anyhow all trust
     hostssl all only_tls all trust
     hostnossl all only_plain all trust
     hostssl all certified all cert
    `,
  );
  await present('server');
  server = await openEmbeddedDatabase({
    directory,
    holder: 'service',
    settings: {
      fsync: 'off',
      ssl: 'on',
      hba_file: path('pg_hba.conf'),
      ssl_cert_file: path('presented.crt'),
      ssl_key_file: path('presented.key'),
      ssl_ca_file: path('authority.crt'),
    },
  });
  owner = open(server.url);
  for (const role of ROLES) await sql`create role ${sql.id(role)} login`.execute(owner);
});
afterAll(async () => {
  await owner.destroy();
  await server.stop();
  await rm(directory, { recursive: true });
});

function open(url: string): Database {
  const options = { poolSize: 2, applicationName: 'tls', onIdleError: () => undefined };
  return connect({ url, ...options });
}

function urlOf(role: string, parameters: Record<string, string>, host = 'localhost'): string {
  const url = new URL(server.url);
  Object.assign(url, { hostname: host, username: role, password: '' });
  url.search = String(new URLSearchParams(parameters));
  return url.href;
}

const IS_ENCRYPTED = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';

/** Whether the session is encrypted, or the error if there is no session. */
async function connection(url: string): Promise<'encrypted' | 'plain' | Error> {
  const db = open(url);
  try {
    const { rows } = await sql.raw<{ ssl: boolean }>(IS_ENCRYPTED).execute(db);
    return rows[0]?.ssl === true ? 'encrypted' : 'plain';
  } catch (error) {
    return error as Error;
  } finally {
    await db.destroy();
  }
}

const ours = async (url: string) => {
  const outcome = await connection(url);
  return outcome instanceof Error ? 'refused' : outcome;
};

const programs = findPrograms();
/** The same by libpq, without files of any home directory. */
const libpq = (url: string) =>
  promisify(execFile)(join(programs ?? '', 'psql'), ['-XAtc', IS_ENCRYPTED, url], {
    env: { HOME: path('home'), PGCONNECT_TIMEOUT: '5' },
  }).then(
    ({ stdout }) => (stdout.trim() === 't' ? 'encrypted' : 'plain'),
    () => 'refused',
  );

describe.skipIf(programs === undefined)(
  'a connection is opened exactly when psql opens one',
  () => {
    const ROOTS = [undefined, 'authority.crt', 'stranger.crt'];
    test.each(TLS_MODES)('with sslmode=%s', async mode => {
      const cases = ROOTS.flatMap(root =>
        ['localhost', '127.0.0.1'].flatMap(host =>
          ROLES.map(role => {
            const rootFile = root === undefined ? {} : { sslrootcert: path(root) };
            return urlOf(role, { sslmode: mode, ...rootFile }, host);
          }),
        ),
      ).filter(url => !(mode === 'verify-ca' && !url.includes('sslrootcert')));
      for (const url of cases) {
        const [found, expected] = await Promise.all([ours(url), libpq(url)]);
        expect({ url, found }).toEqual({ url, found: expected });
      }
    });

    test('with a certificate of the client', async () => {
      const files = {
        sslmode: 'verify-full',
        sslrootcert: path('authority.crt'),
        sslcert: path('client.crt'),
        sslkey: path('client.key'),
      };
      chmodSync(path('client.key'), 0o600);
      const url = urlOf('certified', files);
      expect([await ours(url), await libpq(url)]).toEqual(['encrypted', 'encrypted']);
      const another = urlOf('only_tls', files);
      expect([await ours(another), await libpq(another)]).toEqual(['encrypted', 'encrypted']);
    });
  },
);

test.each([
  ['prefer', 'plain'],
  ['allow', 'plain'],
  ['require', 'refused'],
])('a server without TLS, with sslmode=%s: %s', async (mode, expected) => {
  const url = new URL(inject('databaseServer'));
  url.searchParams.set('sslmode', mode);
  // The first connection of a process, which checks for a pooler, stores the result for all others.
  expect(await leadsToPostgres({ url: url.href, applicationName: 'tls' })).toBe(true);
  expect(await ours(url.href)).toBe(expected);
});

describe('failures are explained in a sentence', () => {
  const told = async (url: string) => explainFailure(await connection(url));
  const CHECK = "Check sslmode and sslrootcert in DATABASE_URL, and the server's certificate.";
  test('an authority that is not trusted', async () => {
    expect(await told(urlOf('anyhow', { sslmode: 'verify-full' }))).toMatch(
      /^TLS with the database failed: (self-signed certificate|unable to (verify|get)).*\. Check sslmode/,
    );
  });
  test('a name that differs from the certificate’s', async () => {
    const parameters = { sslmode: 'verify-full', sslrootcert: path('authority.crt') };
    const sentence = await told(urlOf('anyhow', parameters, '127.0.0.1'));
    expect(sentence).toContain('does not match certificate');
    expect(sentence).toContain(CHECK);
  });
  test('a server that wants no TLS, and one that has none', async () => {
    expect(await told(urlOf('only_plain', { sslmode: 'require' }))).toMatch(/pg_hba\.conf/);
    const url = `${inject('databaseServer')}?sslmode=require`;
    expect(await told(url)).toBe(
      `TLS with the database failed: The server does not support SSL connections. ${CHECK}`,
    );
  });
});

test('a certificate that changes under a running service makes the database unavailable, until its authority is known', async () => {
  copyFileSync(path('authority.crt'), path('trusted.crt'));
  const files = { sslmode: 'verify-full', sslrootcert: path('trusted.crt') };
  const db = open(urlOf('anyhow', files));
  const ask = () => sql.raw(IS_ENCRYPTED).execute(db);
  const isReady = async () => (await createReadiness({ db })()).ready;
  try {
    await ask();
    expect(await isReady()).toBe(true);
    await present('changed');
    await sql`select pg_reload_conf()`.execute(owner);
    await expect
      .poll(async () => {
        await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = 'anyhow'`.execute(
          owner,
        );
        return isReady();
      })
      .toBe(false);
    const error = await ask().catch((failure: unknown) => failure);
    expect(error).toMatchObject({ code: expect.stringMatching(/CERT|SIGNED|VERIFY/) });
    expect(isUnavailable(error)).toBe(true);
    // While the file is being replaced, it may be missing or incomplete.
    await rm(path('trusted.crt'));
    expect(isUnavailable(await ask().catch((failure: unknown) => failure))).toBe(true);
    writeFileSync(path('trusted.crt'), '-----BEGIN CERTIFICATE-----\nMIIB');
    expect(isUnavailable(await ask().catch((failure: unknown) => failure))).toBe(true);
    copyFileSync(path('stranger.crt'), path('trusted.crt'));
    await ask();
    expect(await isReady()).toBe(true);
  } finally {
    await db.destroy();
  }
});
