import type { CheckoutFailureOptions } from '../../checkout/page/failures.ts';
import type { Database } from '../../database/connection.ts';
import type { RateLimits } from '../../http/rate-limit.ts';
import type { OpenProcessor } from '../../processors/open-processor.ts';
import type { Clock } from '../../time/clock.ts';

export interface ProcessorDependencies extends CheckoutFailureOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly limits: RateLimits;
  /** null where US accounts are not served. */
  readonly processor: OpenProcessor | null;
}
