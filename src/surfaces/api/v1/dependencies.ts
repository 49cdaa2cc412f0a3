import type { CreatePaymentDependencies } from '#payments/decide-creation.ts';
import type { Database } from '#storage/database/connection.ts';
import type { FreshCache } from '#storage/database/fresh-cache.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Clock } from '#time/clock.ts';

export interface V1Dependencies {
  readonly db: Database;
  /** Connections that all requests share for short reads. */
  readonly reads: Database;
  /** Cache of the offered networks, under a single key. */
  readonly networks: FreshCache<Network[]>;
  readonly clock: Clock;
  readonly payments: CreatePaymentDependencies;
  readonly publicUrl: string;
  /** How many days events are kept. */
  readonly retentionDays: number;
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
}
