import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '#config/config.ts';
import type { Connection } from '#storage/database/connection.ts';
import { countDemoPeople } from '#storage/repositories/people/people.ts';

/** Warns in production if the database has people of a demo, who cannot sign in. */
export async function reportDemoPeople(
  { environment }: Pick<Config, 'environment'>,
  db: Connection,
  logger: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  if (environment !== 'production') return;
  const people = await countDemoPeople(db);
  if (people === 0) return;
  logger.warn(
    { people },
    'this database has people of a demo: they have no password and no code, and cannot sign in to the panel in production',
  );
}
