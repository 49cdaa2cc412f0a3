import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/connection.ts';
import type { RateLimits } from '../../plugins/rate-limit.ts';
import type { OpenProcessor } from '../../processors/open-processor.ts';

export interface ProcessorDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly limits: RateLimits;
  /** null where US accounts are not served. */
  readonly processor: OpenProcessor | null;
}
