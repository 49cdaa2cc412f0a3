import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Connection } from '../database/connection.ts';
import { isOffered } from '../payments/offered-networks.ts';
import { listActiveNetworks } from '../repositories/chains/networks.ts';

/**
 * Names in the log the active networks that nobody would settle payments on, and that are therefore not
 * offered. A process that simulates settles what has no node.
 */
export async function reportUnwatched(
  { simulation }: Pick<Config, 'simulation'>,
  db: Connection,
  logger: Pick<FastifyBaseLogger, 'info' | 'warn'>,
): Promise<void> {
  const active = await listActiveNetworks(db);
  const unwatched = active.filter(
    ({ is_active: isActive, settled_by: settledBy }) =>
      !isOffered({ isActive, settledBy }, simulation),
  );
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
