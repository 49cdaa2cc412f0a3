import type { RateLimits } from '#http/rate-limit.ts';
import type { LookUps } from '#onchain/watching/look-up/look-ups.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';

export interface CheckoutDependencies {
  readonly db: Database;
  readonly rates: Rates;
  readonly clock: Clock;
  /** Asks chains for transactions that the ledger does not know. */
  readonly lookUps: LookUps;
  readonly limits: RateLimits;
  /** Base URL of checkout links. It has a path if a proxy publishes the service below one. */
  readonly publicUrl: string;
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
  readonly isUnavailable: (error: unknown) => boolean;
}
