import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#storage/database/connection.ts';
import { missingSettings } from '#storage/database/pooler-detection.ts';

/**
 * Logs which settings the sessions of a pooler lack. Without them the service works, until a plan reads a
 * whole table or a statement hangs.
 */
export async function reportPooledSettings(
  db: Database,
  logger: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  try {
    const missing = await missingSettings(db);
    if (missing.length === 0) return;
    logger.warn(
      `the sessions of the pooler lack ${missing.join(', ')}: give them with connect_query, as in the guide to PgBouncer`,
    );
  } catch (error) {
    logger.warn({ err: error }, 'the settings of the pooler could not be read');
  }
}
