import type { FastifyBaseLogger } from 'fastify';
import { Gauge } from 'prom-client';
import type { Config } from '#config/config.ts';
import { connect } from '#storage/database/connection.ts';
import { type RoleRights, readRights, roleOf } from '#storage/database/service-role.ts';
import type { Storage } from './storage.ts';

const excessRights = new Gauge({
  name: 'eps_database_role_excess_rights',
  help: 'Rights of the database role beyond what the service needs, as found at the start of the process',
});

/**
 * Counts the rights of this process in the database beyond what the service needs, and logs them in
 * production: an attacker in such a process could switch off the triggers that guard payments.
 */
export async function reportRights(
  config: Pick<Config, 'environment' | 'migrationUrl' | 'databaseDirectUrl'>,
  storage: Pick<Storage, 'db' | 'directUrl'>,
  logger: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  try {
    const found = [await readRights(storage.db)];
    if (config.databaseDirectUrl !== null) found.push(await readDirectly(storage.directUrl));
    if (config.migrationUrl !== null) {
      const excess = ['is open to this process, which knows MIGRATION_DATABASE_URL'];
      found.push({ role: roleOf(config.migrationUrl).name, excess });
    }
    const beyond = found.filter(({ excess }) => excess.length > 0);
    excessRights.set(beyond.reduce((sum, { excess }) => sum + excess.length, 0));
    if (config.environment !== 'production') return;
    for (const { role, excess } of beyond) {
      logger.warn({ role, excess }, 'the database role may do more than the service needs');
    }
  } catch (error) {
    logger.warn({ err: error }, 'the rights of the database role could not be read');
  }
}

/** Behind a pooler, some connections go directly to PostgreSQL, perhaps with another role. */
async function readDirectly(url: string): Promise<RoleRights> {
  const db = connect({
    url,
    poolSize: 1,
    applicationName: 'eps-rights',
    onIdleError: () => undefined,
  });
  try {
    return await readRights(db);
  } finally {
    await db.destroy();
  }
}
