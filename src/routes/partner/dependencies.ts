import type { Database } from '../../database/connection.ts';
import type { AccessRule } from '../../keys/principal.ts';
import type { Scope } from '../../keys/scopes.ts';
import type { Clock } from '../../time/clock.ts';

export interface PartnerDependencies {
  /** The reports' own pool, so that a slow report never takes a connection from a creation. */
  readonly reports: Database;
  readonly clock: Clock;
}

/** Partner keys with the scope. */
export function partnerAccess(scope: Scope): { access: AccessRule } {
  return { access: { principals: ['partner'], scope } };
}
