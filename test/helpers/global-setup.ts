import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { connect } from '#storage/database/connection.ts';
import { migrate } from '#storage/database/migrate.ts';
import { allowSimulation } from '#storage/repositories/simulated-services.ts';
import { buildIfStale } from '#surfaces/docs/client-package/build.ts';
import { createDatabase, TEMPLATE } from './database.ts';
import { startTestServer } from './database-server.ts';
import { startTestRedis } from './redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the tests' PostgreSQL server; its role may create databases and roles. */
    databaseServer: string;
    /** URL of the tests' Redis server; null if there is none. */
    redisServer: string | null;
  }
}

/**
 * Builds the client that the service serves, and starts the servers that all test files share, with a
 * migrated database to clone.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [server] = await Promise.all([startTestServer(), buildIfStale()]);
  const redis = await startTestRedis();
  const url = await createDatabase(server.url, TEMPLATE, 'template0');
  const db = connect({
    url,
    poolSize: 1,
    applicationName: 'test-setup',
    statementTimeoutMs: 0,
    onIdleError: () => undefined,
  });
  await migrate(db);
  // Most tests simulate payments of live merchants, as on a developer's machine.
  await allowSimulation(db, new Date());
  await db.destroy();
  // The first session after a migration writes PostgreSQL's catalogue cache, which clones then have as well.
  const first = new pg.Client({ connectionString: url });
  await first.connect();
  await first.end();
  project.provide('databaseServer', server.url);
  project.provide('redisServer', redis?.url ?? null);
  return async () => {
    await redis?.stop();
    await server.stop();
  };
}
