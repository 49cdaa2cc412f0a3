import type { RateLimits } from '#http/rate-limit.ts';
import type { Processors } from '#payments/processors/open-processor.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { CheckoutFailureOptions } from '../../checkout/page/failures.ts';

export interface ProcessorDependencies extends CheckoutFailureOptions, Processors {
  readonly db: Database;
  readonly clock: Clock;
  readonly limits: RateLimits;
}
