import type { BaseLogger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/connection.ts';
import { cleanUpLoop } from './clean-up.ts';
import { foldPartnerDeltasLoop } from './fold-partner-deltas.ts';
import { runLoop } from './loop.ts';

interface WorkerDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'error'>;
}

/** Runs every loop of the worker until the signal is aborted; resolves when all have ended. */
export async function runWorker(
  { db, clock, logger }: WorkerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const loops = [cleanUpLoop(db, clock), foldPartnerDeltasLoop(db)];
  await Promise.all(loops.map(loop => runLoop(loop, logger, signal)));
}
