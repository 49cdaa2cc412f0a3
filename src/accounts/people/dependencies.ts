import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { IsBreached } from './breached-passwords.ts';
import type { PasswordHashing } from './password-hash.ts';

/** What the functions of this folder need. */
export interface PeopleDependencies extends PasswordHashing {
  readonly db: Database;
  readonly clock: Clock;
  /** Whether a password was found in a breach. */
  readonly isBreached: IsBreached;
  /** Whether the service sends mail, so that an e-mail is confirmed by a link. */
  readonly sendsMail: boolean;
}

/** What the worker has, which writes the mail that contains a link. */
export type LinkDependencies = Omit<PeopleDependencies, 'isBreached' | 'sendsMail'>;
