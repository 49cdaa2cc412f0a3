import type { BaseLogger } from 'pino';
import type { Processor } from '#payments/processor.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { applyAddressChangesLoop } from './apply-address-changes.ts';
import { cancelDeactivatedLoop } from './cancel-deactivated.ts';
import { cleanUpLoop } from './clean-up.ts';
import { deliverWebhooksLoop, type WebhookDependencies } from './deliver-webhooks.ts';
import { expirePaymentsLoop } from './expire-on-chain.ts';
import { findNoticesLoop } from './find-notices.ts';
import { foldPartnerDeltasLoop } from './fold-partner-deltas.ts';
import { followUpRegulatedLoop } from './follow-up-regulated.ts';
import { keepMonthsLoop } from './keep-months.ts';
import { lapseQuotesLoop } from './lapse-quotes.ts';
import { runLoop } from './loop.ts';
import { reconciliationLoop } from './reconciliation.ts';
import { type SendMailDependencies, sendMailLoop } from './send-mail.ts';
import { valueDepositsLoop } from './value-deposits.ts';
import { type WatchDependencies, watchChainsLoop } from './watch-chains.ts';

export interface WorkerDependencies
  extends WebhookDependencies,
    WatchDependencies,
    SendMailDependencies {
  readonly db: Database;
  readonly clock: Clock;
  /** What deposits in the inbox are valued by. */
  readonly rates: Rates;
  /** Processor of US accounts; null if they are not served. */
  readonly processor: Processor | null;
  /** How long events and webhook deliveries are kept. */
  readonly retentionDays: number;
  readonly logger: Pick<BaseLogger, 'error' | 'warn' | 'info'>;
}

/** Runs every loop of the worker until the signal is aborted; resolves when all have ended. */
export async function runWorker(
  dependencies: WorkerDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { databaseClock, db, clock, logger, rates, retentionDays, mail } = dependencies;
  const loops = [
    expirePaymentsLoop(db, clock, logger),
    lapseQuotesLoop(db, clock, logger),
    cancelDeactivatedLoop(db, clock, logger),
    applyAddressChangesLoop(db, clock),
    followUpRegulatedLoop(dependencies, clock),
    foldPartnerDeltasLoop(db),
    cleanUpLoop(db, clock),
    keepMonthsLoop(db, clock, retentionDays, logger),
    deliverWebhooksLoop(dependencies),
    ...(mail === null ? [] : [findNoticesLoop(db, clock)]),
    sendMailLoop(dependencies),
    watchChainsLoop(dependencies),
    reconciliationLoop(dependencies),
    valueDepositsLoop(db, rates, clock),
  ];
  await Promise.all(loops.map(loop => runLoop(loop, logger, signal, { databaseClock })));
}
