import type { Keyring } from '../../crypto/keyring.ts';
import type { Database } from '../../database/connection.ts';
import type { Clock } from '../../time/clock.ts';
import type { IsBreached } from './breached-passwords.ts';

/** What the functions of this folder need. */
export interface PeopleDependencies {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Whether a password was found in a breach. */
  readonly isBreached: IsBreached;
}
