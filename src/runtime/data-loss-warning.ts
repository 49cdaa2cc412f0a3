import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '#config/config.ts';
import { countAsynchronousStandbys } from '#storage/database/asynchronous-standbys.ts';
import type { Connection } from '#storage/database/connection.ts';

type Settings = Pick<Config, 'environment' | 'databaseDurability' | 'redisUrl'>;

/**
 * Whether a failover may lose confirmed writes without anybody noticing: an asynchronous standby follows,
 * commits need not be on two machines, and no mark in Redis tells what is lacking. Only in production.
 */
export async function mayLoseUnnoticed(settings: Settings, db: Connection): Promise<boolean> {
  const { environment, databaseDurability, redisUrl } = settings;
  if (environment !== 'production' || databaseDurability !== 'server' || redisUrl !== null) {
    return false;
  }
  return (await countAsynchronousStandbys(db)) > 0;
}

/** Warns in the log if a failover may lose writes unnoticed. */
export async function reportUnnoticedLoss(
  settings: Settings,
  db: Connection,
  logger: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  try {
    if (!(await mayLoseUnnoticed(settings, db))) return;
    logger.warn(
      'an asynchronous standby follows the database: if it is promoted, the newest payments, settlements and revocations are lost and nothing says so; set DATABASE_DURABILITY=replicated with a synchronous standby, or REDIS_URL, by which the loss is noticed',
    );
  } catch (error) {
    logger.warn({ err: error }, 'the standbys of the database could not be read');
  }
}
