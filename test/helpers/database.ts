import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { connect, type Database } from '#storage/database/connection.ts';

/** The migrated, empty database that every test file clones. */
export const TEMPLATE = 'eps_template';

export interface TestDatabase {
  readonly db: Database;
  readonly url: string;
  drop(): Promise<void>;
}

/** Clones a migrated, empty database for the test. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const server = inject('databaseServer');
  const name = `eps_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(server, name, TEMPLATE);
  const db = connect({
    url,
    poolSize: 20,
    applicationName: 'test',
    // Filling it may take long on a busy machine. A test that hangs ends by its own limit.
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
  return {
    db,
    url,
    async drop() {
      await db.destroy();
      await onServer(server, `drop database ${name} with (force)`);
    },
  };
}

/** Creates a database and returns its URL. */
export async function createDatabase(
  server: string,
  name: string,
  template: string,
): Promise<string> {
  if (name === TEMPLATE) await onServer(server, `drop database if exists ${name} with (force)`);
  // Faster than copying pages through the WAL, which nobody replays.
  await onServer(server, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** By URL, the session that creates and drops databases: one session each would cost as much as the copy. */
const sessions = new Map<string, Promise<pg.Client>>();

async function openSession(server: string): Promise<pg.Client> {
  const session = new pg.Client({ connectionString: server });
  // The server stops before the test processes.
  session.on('error', () => sessions.delete(server));
  await session.connect();
  return session;
}

async function onServer(server: string, statement: string): Promise<void> {
  const opened = sessions.get(server) ?? openSession(server);
  sessions.set(server, opened);
  const session = await opened;
  // Two concurrent clones may find the template busy: workers take turns by the lock, and callers by the session.
  await session.query('select pg_advisory_lock(20261)');
  await session.query(statement).finally(() => session.query('select pg_advisory_unlock(20261)'));
}
