import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '#config/config.ts';
import { isRowOffered } from '#payments/offered-networks.ts';
import type { Connection } from '#storage/database/connection.ts';
import { listActiveNetworks } from '#storage/repositories/chains/networks.ts';

/**
 * Logs the active networks that are not offered because nothing settles payments on them: no node watches
 * their chain, and this process does not simulate.
 */
export async function reportUnwatched(
  { simulation }: Pick<Config, 'simulation'>,
  db: Connection,
  logger: Pick<FastifyBaseLogger, 'info' | 'warn'>,
): Promise<void> {
  const active = await listActiveNetworks(db);
  const offering = simulation ? 'simulated' : 'watched';
  const unwatched = active.filter(network => !isRowOffered(network, offering));
  if (unwatched.length === active.length) {
    logger.warn(
      'no network is offered, since no node watches a chain: payments on standard accounts are refused until "mp node add" names one',
    );
  } else if (unwatched.length > 0) {
    logger.info(
      { networks: unwatched.map(({ id }) => id) },
      'no node watches these networks: no payment on them can settle, and they are not offered; add one with "mp node add"',
    );
  }
}
