import type { Keyring } from '../../crypto/keyring.ts';
import type { Database } from '../../database/connection.ts';
import type { Clock } from '../../time/clock.ts';

/** What the functions of this folder need. */
export interface PeopleDependencies {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
}
