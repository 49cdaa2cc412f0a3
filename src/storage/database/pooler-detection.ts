import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from './connection.ts';
import { ServerClient } from './encryption.ts';
import { primaryOf } from './primary.ts';
import { POOLED_SETTINGS, type SessionOptions, sessionConfig } from './session.ts';
import { cutSoon } from './session-client.ts';
import { STATEMENT_TIMEOUT_MS } from './time-limits.ts';

/** PgBouncer's error for session settings that it is not configured to ignore. */
const REFUSED_SETTING = /unsupported startup parameter/i;

/** Whether the connection has a session of its own: a pooler reports made-up process IDs. */
export async function hasOwnSession(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid === (client as { processID?: number }).processID;
}

/**
 * Whether the URL leads to PostgreSQL itself and not to a pooler, behind which timeouts, prepared
 * statements and notifications get lost. True while no server responds, since it cannot be known.
 */
export async function leadsToPostgres(options: Omit<SessionOptions, 'pooler'>): Promise<boolean> {
  const clients: pg.Client[] = [];
  try {
    const open = () => {
      const client = new ServerClient({
        ...sessionConfig(options),
        query_timeout: STATEMENT_TIMEOUT_MS,
      });
      clients.push(client);
      // The query or the connect call rejects as well.
      client.on('error', () => undefined);
      return client.connect();
    };
    return await hasOwnSession(await primaryOf(options.url).reach(open));
  } catch (error) {
    return !(error instanceof Error && REFUSED_SETTING.test(error.message));
  } finally {
    cutSoon(clients);
    await Promise.all(clients.map(client => client.end()));
  }
}

/** The settings that a session of the pooler lacks, as `name = value`. */
export async function missingSettings(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings
    where name = any(${Object.keys(POOLED_SETTINGS)})`.execute(db);
  const found = new Map(rows.map(({ name, setting }) => [name, setting]));
  return Object.entries(POOLED_SETTINGS)
    .filter(([name, value]) => found.get(name) !== value)
    .map(([name, value]) => `${name} = ${value}`);
}
