import type { Keyring } from '#crypto/keyring.ts';
import type { Admission } from '#http/admission.ts';
import type { RateLimits } from '#http/rate-limit.ts';
import type { CreatePaymentDependencies } from '#payments/decide-creation.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { LegacyFailureOptions } from './failures.ts';

export interface LegacyDependencies extends LegacyFailureOptions {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly limits: RateLimits;
  readonly admission: Admission;
  readonly payments: CreatePaymentDependencies;
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
}
