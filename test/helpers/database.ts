import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { connect, type Database } from '../../src/database/connection.ts';

/** The migrated, empty database that every test file clones. */
export const TEMPLATE = 'eps_template';

export interface TestDatabase {
  readonly db: Database;
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of one's own, migrated and empty. */
export async function cloneDatabase(): Promise<TestDatabase> {
  const server = inject('databaseServer');
  const name = `eps_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(server, name, TEMPLATE);
  const db = connect({
    url,
    poolSize: 20,
    applicationName: 'test',
    // Filling it may take long on a busy machine.
    statementTimeoutMs: 10_000,
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
  // Faster than copying pages through the log, which nobody replays.
  await onServer(server, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    // Two clones at once may find the template busy; the lock makes them take turns.
    await client.query('select pg_advisory_lock(20261)');
    await client.query(statement);
  } finally {
    await client.end();
  }
}
