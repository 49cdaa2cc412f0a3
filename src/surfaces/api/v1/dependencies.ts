import type { CreatePaymentDependencies } from '#payments/decide-creation.ts';
import type { SandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
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
  /** Prices of simulated payments, which choose a network. */
  readonly rates: Rates;
  /** Processor of test merchants. */
  readonly sandbox: SandboxProcessor;
  /** How many days events are kept. */
  readonly retentionDays: number;
  /** Whether the service simulates the payments of all merchants. */
  readonly simulation: boolean;
}
