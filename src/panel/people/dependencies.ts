import type { Keyring } from '../../crypto/keyring.ts';
import type { Database } from '../../database/connection.ts';
import type { Clock } from '../../time/clock.ts';

/** What everything that concerns people works with. */
export interface PeopleDependencies {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
}
