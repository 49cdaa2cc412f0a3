import type { BaseLogger } from 'pino';
import type { Processor } from '#payments/processor.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { cleanUpLoop } from './clean-up.ts';
import { deliverWebhooksLoop, type WebhookDependencies } from './deliver-webhooks.ts';
import { keepMonthsLoop } from './keep-months.ts';
import { runLoop } from './loop.ts';
import { type SendMailDependencies, sendMailLoop } from './send-mail.ts';
import { findNoticesLoop, SMALL_LOOPS } from './small-loops.ts';
import { type WatchDependencies, watchChainsLoop } from './watch-chains.ts';

interface WorkerDependencies extends WebhookDependencies, WatchDependencies, SendMailDependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** Prices by which deposits in the inbox are valued. */
  readonly rates: Rates;
  /** Processor of US accounts; null if those of live merchants are not served. */
  readonly processor: Processor | null;
  /** Processor of test merchants. */
  readonly sandbox: Processor;
  /** How long events and webhook deliveries are kept. */
  readonly retentionDays: number;
  readonly logger: Pick<BaseLogger, 'error' | 'warn' | 'info'>;
}

/** Runs every loop of the worker until the signal is aborted; resolves when all have ended. */
export async function runWorker(
  dependencies: WorkerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { databaseClock, db, clock, logger, retentionDays, mail } = dependencies;
  const loops = [
    ...Object.values(SMALL_LOOPS).map(open => open(dependencies)),
    ...(mail === null ? [] : [findNoticesLoop(dependencies)]),
    cleanUpLoop(db, clock),
    keepMonthsLoop(db, clock, retentionDays, logger),
    deliverWebhooksLoop(dependencies),
    sendMailLoop(dependencies),
    watchChainsLoop(dependencies),
  ];
  await Promise.all(loops.map(loop => runLoop(loop, logger, signal, { databaseClock })));
}
