import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import { createKeyring, type Keyring } from '../crypto/keyring.ts';
import { generatedMasterKey } from '../crypto/master-key.ts';
import { connect, type Database } from '../database/connection.ts';
import { leadsToPostgres } from '../database/direct.ts';
import { migrateJobQueue, pendingJobQueueMigrations } from '../database/job-queue.ts';
import { migrate, pendingMigrations } from '../database/migrate.ts';
import { openEmbeddedDatabase } from '../development/embedded-postgres.ts';

interface OpenOptions {
  /** A service may share the embedded database; commands take turns with it. */
  readonly holder: 'service' | 'command';
  /** Shown in pg_stat_activity. */
  readonly name: string;
  readonly logger: FastifyBaseLogger;
}

/** The database and the master key: what every entry works with. */
export interface Storage {
  readonly db: Database;
  /** PostgreSQL itself, also where the pool goes through a pooler: for what needs a session. */
  readonly directUrl: string;
  readonly keyring: Keyring;
  /** Closes the pool, and the embedded server where this process started it. */
  close(): Promise<void>;
}

/**
 * Opens the configured database, or the embedded one.
 * @throws Error when its address is a pooler's and PostgreSQL itself is not named beside it.
 */
export async function openStorage(
  config: Config,
  { holder, name, logger }: OpenOptions,
): Promise<Storage> {
  const embedded =
    config.databaseUrl === null
      ? await openEmbeddedDatabase({
          directory: config.dataDirectory,
          holder,
          log: line => logger.warn({ line }, 'embedded database'),
        })
      : undefined;
  const url = config.databaseUrl ?? embedded?.url ?? '';
  const directUrl = config.databaseDirectUrl ?? url;
  if (embedded === undefined) {
    const variable = config.databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    await refusePooler(variable, directUrl, name);
  }
  const db = connect({
    url,
    pooler: directUrl !== url,
    poolSize: config.databasePoolSize,
    applicationName: name,
    onIdleError: error => logger.warn({ err: error }, 'database connection lost'),
  });
  const close = async () => {
    await db.destroy();
    await embedded?.stop();
  };
  try {
    const masterKeys =
      config.masterKeys.length > 0
        ? config.masterKeys
        : [await generatedMasterKey(config.dataDirectory)];
    return { db, directUrl, keyring: createKeyring(masterKeys), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws Error when the address that the variable has is a pooler's. */
export async function refusePooler(
  variable: 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_REPORTS_URL',
  url: string,
  applicationName: string,
): Promise<void> {
  if (await leadsToPostgres({ url, applicationName })) return;
  const remedy =
    variable === 'DATABASE_URL'
      ? 'Name PostgreSQL itself in DATABASE_DIRECT_URL as well.'
      : 'It has to be PostgreSQL itself.';
  throw new Error(`${variable} leads to a pooler such as PgBouncer. ${remedy}`);
}

/**
 * Brings an open database to the newest version, over a connection that lets a statement take its
 * time: building an index on a large table takes longer than any request may.
 * @returns Names of the migrations applied, in order.
 */
export async function migrateStorage({ directUrl }: Storage): Promise<string[]> {
  const db = connect({
    url: directUrl,
    poolSize: 1,
    applicationName: 'eps-migrate',
    statementTimeoutMs: 0,
    // A connection that breaks while it is used fails the migration itself.
    onIdleError: () => undefined,
  });
  try {
    return [...(await migrate(db)), ...(await migrateJobQueue(directUrl))];
  } finally {
    await db.destroy();
  }
}

/** Names of the migrations that this code base has and an open database lacks, in order. */
export async function pendingInStorage({ db }: Storage): Promise<string[]> {
  return [...(await pendingMigrations(db)), ...(await pendingJobQueueMigrations(db))];
}
