import type { Database } from '../../database/connection.ts';
import type { RateLimits } from '../../http/rate-limit.ts';
import type { Rates } from '../../rates/rate-source.ts';
import type { Clock } from '../../time/clock.ts';

export interface CheckoutDependencies {
  readonly db: Database;
  readonly rates: Rates;
  readonly clock: Clock;
  readonly limits: RateLimits;
  /** Base of checkout links; its path is where a proxy serves the service. */
  readonly publicUrl: string;
  /** Whether payments may be simulated; never in production. */
  readonly simulation: boolean;
  readonly isUnavailable: (error: unknown) => boolean;
}
