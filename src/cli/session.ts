import { userInfo } from 'node:os';
import type { Operator } from '../accounts/operation.ts';
import { type Config, ConfigError, readConfig } from '../config/config.ts';
import type { Database } from '../database/connection.ts';
import type { Storage } from '../runtime/storage.ts';
import { CommandFailed, type Terminal } from './terminal.ts';
import { parseName } from './values.ts';

/** What a command works with: the operator's name and the database, brought up to date. */
export interface Session extends Operator {
  readonly db: Database;
  readonly keyring: Storage['keyring'];
  readonly config: Config;
}

/**
 * Opens the configured database for one command and closes it whatever happens.
 * @throws CommandFailed when it lacks migrations, unless it is the embedded one: that is migrated.
 */
export async function withSession(
  terminal: Terminal,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  const actor = readActor(terminal.env);
  await withStorage(terminal, async (storage, config) => {
    const { migrateStorage, pendingInStorage } = await import('../runtime/storage.ts');
    const pending = await pendingInStorage(storage);
    if (pending.length > 0 && config.databaseUrl !== null) {
      throw new CommandFailed(
        `The database lacks ${pending.join(', ')}: run "npx mp migrate" first.`,
      );
    }
    if (pending.length > 0) await migrateStorage(storage);
    const { db, keyring } = storage;
    await work({ db, keyring, config, clock: Date.now, actor });
  });
}

/** Opens the configured database as it is, whatever its version. */
export async function withStorage(
  terminal: Terminal,
  work: (storage: Storage, config: Config) => Promise<void>,
): Promise<void> {
  const config = readConfig(terminal.env);
  const storage = await open(config);
  try {
    await work(storage, config);
  } finally {
    await storage.close();
  }
}

async function open(config: Config): Promise<Storage> {
  const [{ openStorage }, { pino }] = await Promise.all([
    import('../runtime/storage.ts'),
    import('pino'),
  ]);
  // Standard output belongs to the command's answer.
  const logger = pino({ name: 'mp', level: 'warn' }, pino.destination({ fd: 2, sync: true }));
  try {
    return await openStorage(config, { holder: 'command', name: 'eps-mp', logger });
  } catch (error) {
    // Opening fails with what the operator is to do; where in the code it failed says nothing more.
    throw error instanceof Error ? new CommandFailed(error.message, { cause: error }) : error;
  }
}

/**
 * Who the audit log names.
 * @throws ConfigError for an MP_ACTOR that is no name.
 */
function readActor(env: Terminal['env']): string {
  const actor = env.MP_ACTOR || systemUser();
  try {
    return parseName(actor);
  } catch {
    throw new ConfigError(['MP_ACTOR takes a name of 1 to 200 characters on one line.']);
  }
}

/** A container may run under a number that no user has; then the number is the name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
