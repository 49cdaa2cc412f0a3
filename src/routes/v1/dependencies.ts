import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/connection.ts';
import type { CreatePaymentSettings } from '../../payments/create-payment.ts';
import type { Idempotency } from '../../plugins/idempotency.ts';

export interface V1Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly idempotency: Idempotency;
  readonly payments: CreatePaymentSettings;
}
