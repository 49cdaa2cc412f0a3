import pg from 'pg';
import { type SessionOptions, sessionConfig } from './session.ts';

/** What PgBouncer says to settings of a session, unless it is told to ignore them. */
const REFUSED_SETTING = /unsupported startup parameter/i;

/**
 * Whether each transaction of the connection is served by the session it was opened for. A pooler
 * tells its clients numbers of its own in place of the session's.
 */
export async function hasOwnSession(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid === (client as { processID?: number }).processID;
}

/**
 * Whether the URL leads to PostgreSQL itself and not to a pooler, where timeouts, prepared
 * statements and notifications would be lost; unknown, and so true, while nobody answers there.
 */
export async function leadsToPostgres(options: Omit<SessionOptions, 'pooler'>): Promise<boolean> {
  const client = new pg.Client(sessionConfig(options));
  // The query or the connecting fails as well.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await hasOwnSession(client);
  } catch (error) {
    return !(error instanceof Error && REFUSED_SETTING.test(error.message));
  } finally {
    await client.end().catch(() => undefined);
  }
}
