import type { FastifyRequest } from 'fastify';
import type { Database } from '../../database/connection.ts';
import type { FreshCache } from '../../database/fresh-cache.ts';
import type { Network } from '../../database/tables.ts';
import type { CreatePaymentDependencies } from '../../payments/create-payment.ts';
import type { Response } from '../../payments/idempotency.ts';
import type { Clock } from '../../time/clock.ts';

export interface V1Dependencies {
  readonly db: Database;
  /** Where short queries are read. */
  readonly reads: Database;
  /** The active networks, under one key. */
  readonly networks: FreshCache<Network[]>;
  readonly clock: Clock;
  readonly payments: CreatePaymentDependencies;
  /** Renders and logs a failure that is kept under an idempotency key. */
  readonly onExecutionFailure: (request: FastifyRequest, error: unknown) => Response;
}
