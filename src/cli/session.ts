import { userInfo } from 'node:os';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { type Config, ConfigError, readConfig } from '#config/config.ts';
import type { Storage } from '#runtime/storage.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Terminal } from './terminal.ts';
import { parseName } from './values.ts';

/** The operator and a migrated database. */
export interface Session extends Operator {
  readonly db: Database;
  readonly keyring: Storage['keyring'];
  readonly directUrl: string;
  readonly config: Config;
}

interface SessionOptions {
  /** Lowest level at which the connection's log reaches standard error; warnings by default. */
  readonly logLevel?: 'warn' | 'error';
  /** Whether the command may write even to a database whose restore is not confirmed. */
  readonly mayBeRestored?: boolean;
}

/**
 * Runs a command on the configured database, then closes it. An embedded database is migrated first.
 * @throws MigrationsPending for any other database that lacks migrations, MasterKeyMissing.
 */
export async function withSession(
  terminal: Terminal,
  work: (session: Session) => Promise<void>,
  { logLevel = 'warn', mayBeRestored = false }: SessionOptions = {},
): Promise<void> {
  const actor = readActor(terminal.env);
  const prepareAndWork = async (storage: Storage, config: Config) => {
    const { prepareStorage } = await import('#runtime/storage.ts');
    // The command's user need not read about the preparation of the database.
    await prepareStorage(config, storage, { info: () => undefined });
    const { databaseClock, db, directUrl, keyring } = storage;
    const clock = databaseClock.now;
    if (!mayBeRestored) await storage.restores.look(db);
    await work({ db, directUrl, keyring, config, clock, actor, origin: 'cli' });
  };
  await withStorage(terminal, prepareAndWork, logLevel);
}

/** Like withSession, but neither checks nor applies migrations. */
export async function withStorage(
  terminal: Terminal,
  work: (storage: Storage, config: Config) => Promise<void>,
  logLevel: 'warn' | 'error' = 'warn',
): Promise<void> {
  const config = readConfig(terminal.env);
  const storage = await open(config, logLevel);
  try {
    await work(storage, config);
  } finally {
    await storage.close();
  }
}

async function open(config: Config, logLevel: 'warn' | 'error'): Promise<Storage> {
  const [{ openStorage }, { createLogger, standardError }] = await Promise.all([
    import('#runtime/storage.ts'),
    import('#telemetry/logger.ts'),
  ]);
  // Standard output is reserved for the command's result.
  const logger = createLogger({ logLevel }, 'mp', standardError());
  return openStorage(config, { holder: 'command', name: 'eps-mp', logger });
}

/**
 * The operator's name in the audit log.
 * @throws ConfigError for an invalid MP_ACTOR.
 */
function readActor(env: Terminal['env']): string {
  const actor = env.MP_ACTOR || systemUser();
  try {
    return parseName(actor);
  } catch {
    throw new ConfigError(['MP_ACTOR must be a name of 1 to 200 characters on one line.']);
  }
}

/** A container may run with a user ID that has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
