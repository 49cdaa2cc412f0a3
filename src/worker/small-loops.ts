import type { BaseLogger } from 'pino';
import { applyDueChanges } from '#accounts/apply-changes.ts';
import { tellOfExpiringKeys } from '#accounts/keys/expiring-keys.ts';
import { stockWallets } from '#accounts/wallets.ts';
import type { Keyring } from '#crypto/keyring.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { lapseQuotes } from '#onchain/settlement/lapse-quotes.ts';
import { tellOfUnmatched } from '#onchain/settlement/unmatched-digest.ts';
import { valueDeposits } from '#onchain/settlement/value-deposits.ts';
import { type AuditDependencies, reconcileDays } from '#onchain/watching/audit/reconciliation.ts';
import { cancelDeactivated } from '#payments/cancel-deactivated.ts';
import { type FollowUp, followUp, hastenCancelling } from '#payments/processors/follow-up.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import { tellOfFailingEndpoints } from '#payments/webhooks/failing-endpoints.ts';
import type { Database } from '#storage/database/connection.ts';
import { foldPartnerDeltas } from '#storage/repositories/partners/deltas.ts';
import type { Clock } from '#time/clock.ts';
import { type BatchLoopOptions, batchLoop } from './batch-loop.ts';
import type { Loop } from './loop.ts';

interface Timed {
  readonly db: Database;
  readonly clock: Clock;
}
interface Logging extends Timed {
  readonly logger: Pick<BaseLogger, 'warn'>;
}

/** Payments per transaction: few enough that locks are short. */
const PAYMENTS = 50;
/** Concurrent transactions while many payments expire; each skips the rows locked by the others. */
const CONCURRENT_EXPIRIES = 4;
/** Concurrent requests to the processor: far below its rate limit per second. */
const INQUIRIES = 10;
/** Maximum payments of deactivated merchants whose next inquiry a run brings forward. */
const HASTENED = 100;

/** Find what no change triggers: time that passes, and states that last. */
const NOTICE_FINDERS = [tellOfExpiringKeys, tellOfFailingEndpoints, tellOfUnmatched];

/** A loop whose batches take what is due now. */
function dueLoop<D extends Timed>(
  options: BatchLoopOptions,
  work: (dependencies: D, now: Date, size: number) => Promise<number>,
) {
  return (dependencies: D): Loop =>
    batchLoop(options, () => work(dependencies, new Date(dependencies.clock()), options.size));
}

/** The loops that need no file of their own: what each does, how often, and how much at a time. */
export const SMALL_LOOPS = {
  /** Expires on-chain payments. */
  expirePayments: ({ db, clock, logger }: Logging): Loop => ({
    name: 'expire-payments',
    // Together they let a payment expire within two seconds of its time, even after an outage.
    intervalMs: 1_000,
    maximumPauseMs: 1_000,
    async run(signal) {
      const expire = () => expirePayments(db, new Date(clock()), PAYMENTS, logger);
      let full = (await expire()) === PAYMENTS;
      while (full && !signal.aborted) {
        const expired = await Promise.all(Array.from({ length: CONCURRENT_EXPIRIES }, expire));
        full = expired.every(count => count === PAYMENTS);
      }
    },
  }),

  /** Removes expired prices, which the checkout no longer shows, from open payments: until then a transfer may pay them. */
  lapseQuotes: dueLoop(
    { name: 'lapse-quotes', intervalMs: 5_000, size: PAYMENTS },
    ({ db, logger }: Logging, now, size) => lapseQuotes(db, now, size, logger),
  ),

  /** Cancels open on-chain payments of merchants that were deactivated: until then customers may still be asked to pay. */
  cancelDeactivated: dueLoop(
    { name: 'cancel-deactivated', intervalMs: 5_000, size: PAYMENTS },
    ({ db, logger }: Logging, now, size) => cancelDeactivated(db, now, size, logger),
  ),

  /** Applies changes of deposit addresses that have waited for hours; each has a transaction of its own. */
  applyAddressChanges: dueLoop(
    { name: 'apply-address-changes', intervalMs: 5_000, size: 50 },
    ({ db, clock }: Timed, _, size) => applyDueChanges(db, clock, size),
  ),

  /** Derives addresses of wallets ahead of what payments are asked to pay to. */
  stockWallets: dueLoop(
    { name: 'stock-wallets', intervalMs: 5_000, idleMs: 15_000, size: 20 },
    ({ db, keyring }: Timed & { readonly keyring: Keyring }, _, size) =>
      stockWallets(db, keyring, size),
  ),

  /** Asks the processor about payments on US accounts until each has ended, within seconds of its time. */
  followUpRegulated: (dependencies: FollowUp & Timed): Loop => ({
    name: 'follow-up-regulated',
    intervalMs: 5_000,
    async run(signal) {
      const now = () => new Date(dependencies.clock());
      let more = true;
      while (more && !signal.aborted) more = await followUp(dependencies, now(), INQUIRIES);
      // The next run makes the inquiries that this one brings forward.
      if (!signal.aborted) await hastenCancelling(dependencies, now(), HASTENED);
    },
  }),

  /**
   * Folds the deltas of payments into the rollups of partner reports. At a thousand payments per second, reports
   * add two thousand unfolded deltas, and ten thousand when such a load begins after a quiet time.
   */
  foldPartnerDeltas: dueLoop(
    { name: 'fold-partner-deltas', intervalMs: 2_000, idleMs: 10_000, size: 5_000 },
    ({ db }: Timed, _, size) => foldPartnerDeltas(db, size),
  ),

  /**
   * Records what deposits in the inbox, and those that settled payments, are worth. The interval is short compared
   * with how fast prices move, so that the recorded price is that of the arrival.
   */
  valueDeposits: dueLoop(
    { name: 'value-deposits', intervalMs: 5_000, idleMs: 15_000, size: 500 },
    ({ db, rates }: Timed & { readonly rates: Rates }, now, size) =>
      valueDeposits(db, rates, now, size),
  ),

  /** Compares yesterday's blocks with the ledger, at a quiet hour. */
  reconcile: (dependencies: AuditDependencies): Loop => ({
    name: 'reconciliation',
    intervalMs: 60_000,
    async run(signal, beat) {
      while (!signal.aborted && (await reconcileDays(dependencies, signal))) beat();
    },
  }),
} as const;

/** Writes mail about what no change triggers. It runs where there is a server for mail. */
export function findNoticesLoop({ db, clock }: Timed): Loop {
  return {
    name: 'find-notices',
    intervalMs: 120_000,
    async run(signal, beat) {
      const failures: unknown[] = [];
      for (const find of NOTICE_FINDERS) {
        // One that fails must not keep the others from running.
        await find(db, new Date(clock()), signal).then(beat, error => void failures.push(error));
      }
      if (failures.length > 0) {
        throw new AggregateError(failures, `${failures.length} kinds of notices were not found`);
      }
    },
  };
}
