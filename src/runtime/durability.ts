import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '#config/config.ts';
import { CannotStart } from '#errors/cannot-start.ts';
import {
  type Durability,
  DurabilityImpossible,
  openDurability,
} from '#storage/database/durability.ts';

/**
 * Watches whether commits survive the loss of one machine, if DATABASE_DURABILITY asks for that; otherwise
 * warns once in production.
 * @param url URL of PostgreSQL itself.
 * @throws CannotStart where the role or the server's settings rule it out.
 */
export async function watchDurability(
  { databaseDurability, environment }: Pick<Config, 'databaseDurability' | 'environment'>,
  url: string,
  {
    holder,
    name,
    logger,
  }: {
    readonly holder: 'service' | 'command';
    readonly name: string;
    readonly logger: FastifyBaseLogger;
  },
): Promise<Durability | null> {
  if (databaseDurability === 'server') {
    if (environment === 'production' && holder === 'service') {
      logger.warn(
        'what one database server has confirmed is lost with it: see DATABASE_DURABILITY',
      );
    }
    return null;
  }
  return openDurability({
    url,
    applicationName: `${name}-durability`,
    onChange(reason) {
      // A command reports a refusal itself when it writes.
      if (holder === 'command') return;
      if (reason === null) logger.info('writes are taken again');
      else logger.error({ reason }, 'writes are refused');
    },
  }).catch((error: unknown) => {
    if (!(error instanceof DurabilityImpossible)) throw error;
    throw new CannotStart(`DATABASE_DURABILITY is "replicated", but ${error.message}.`);
  });
}
