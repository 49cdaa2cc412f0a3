import type { Database } from '../../database/connection.ts';
import type { AccessRule } from '../../keys/principal.ts';
import type { Scope } from '../../keys/scopes.ts';
import type { Clock } from '../../time/clock.ts';

export interface PartnerDependencies {
  /** A pool for reports only, so that a slow report cannot hold up the creation of payments. */
  readonly reports: Database;
  readonly clock: Clock;
}

/** Allows partner keys that have the scope. */
export function partnerAccess(scope: Scope): { access: AccessRule } {
  return { access: { principals: ['partner'], scope } };
}
