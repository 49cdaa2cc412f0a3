import type { FastifyBaseLogger } from 'fastify';
import { checkMasterKeys } from '#accounts/keys/master-keys.ts';
import { switchOffTestNetworks } from '#accounts/networks.ts';
import type { Config } from '#config/config.ts';
import { createKeyring, type Keyring } from '#crypto/keyring.ts';
import { readOrCreateMasterKey } from '#crypto/master-key.ts';
import { CannotStart } from '#errors/cannot-start.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import type { Durability } from '#storage/database/durability.ts';
import { isAccessDenied } from '#storage/database/errors.ts';
import { migrate, pendingMigrations } from '#storage/database/migrate.ts';
import type { ReportStep } from '#storage/database/partition-tables.ts';
import { readDatabaseClock } from '#storage/database/ping.ts';
import { leadsToPostgres } from '#storage/database/pooler-detection.ts';
import { primaryOf } from '#storage/database/primary.ts';
import { admitService, roleOf, ServiceRoleError } from '#storage/database/service-role.ts';
import { CONNECT_TIMEOUT_MS } from '#storage/database/time-limits.ts';
import { createWriteGate, type WriteGate } from '#storage/database/write-gate.ts';
import {
  allowSimulation,
  forbidSimulation,
  isSimulationAllowed,
} from '#storage/repositories/simulated-services.ts';
import { createDatabaseClock, type DatabaseClock } from '#time/database-clock.ts';
import { openEmbeddedDatabase } from './development/embedded-postgres.ts';
import { watchDurability } from './durability.ts';
import { reportPooledSettings } from './pooled-settings.ts';
import { openNewestMark } from './restore-mark.ts';
import { createRestoreWatch, type RestoreWatch } from './restore-watch.ts';

/** Longest a command's statement may run, in milliseconds. */
const COMMAND_STATEMENT_TIMEOUT_MS = 10_000;

interface OpenOptions {
  /** Other processes attach to a service's embedded database; commands take turns. */
  readonly holder: 'service' | 'command';
  /** Shown in pg_stat_activity. */
  readonly name: string;
  readonly logger: FastifyBaseLogger;
}

/** The database and the keyring, which every entry point works with. */
export interface Storage {
  readonly db: Database;
  /** URL of PostgreSQL itself, for work that needs a session, even if the pool connects to a pooler. */
  readonly directUrl: string;
  /** URL for the role that owns the tables; the same as `directUrl` if there is only one role. */
  readonly ownerUrl: string;
  readonly keyring: Keyring;
  /** Refuses writes that could be lost with one machine; null if that is not asked for. */
  readonly durability: Durability | null;
  /** Gate of the connections to the primary. */
  readonly gate: WriteGate;
  /**
   * The clock for all decisions about time. Refuses writes before it is measured, and while the machine's
   * clock is too far away.
   */
  readonly databaseClock: DatabaseClock;
  /** Refuses writes to a restored database, from when it is told to look. */
  readonly restores: RestoreWatch;
  /** Closes the pool, and stops the embedded server if this process started it. */
  close(): Promise<void>;
}

/**
 * Opens the configured database, or the embedded one.
 * @throws CannotStart when DATABASE_URL leads to a pooler and DATABASE_DIRECT_URL is not set, none of the
 * servers of a URL is a primary, or the durability that is asked for is impossible.
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
        }).catch(refuse)
      : undefined;
  const url = config.databaseUrl ?? embedded?.serviceUrl ?? '';
  const directUrl = config.databaseDirectUrl ?? url;
  const ownerUrl = config.migrationUrl ?? embedded?.url ?? directUrl;
  if (embedded === undefined) {
    const variable = config.databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    await requirePrimary(variable, directUrl, config.migrationUrl);
    await refusePooler(variable, directUrl, name);
  }
  const durability = await watchDurability(config, directUrl, { holder, name, logger });
  const pooler = directUrl !== url;
  const isService = holder === 'service';
  // A command has no mark: it relies on what the service has recorded, and reports a refusal itself when it writes.
  const mark = isService && config.redisUrl !== null ? await openNewestMark(config.redisUrl) : null;
  const databaseClock = createDatabaseClock({
    ask: () => readDatabaseClock(db),
    log: isService ? logger : null,
  });
  const restores = createRestoreWatch({
    primary: primaryOf(directUrl),
    mark,
    clock: databaseClock.now,
    logger: isService ? logger : null,
  });
  const gate = createWriteGate({
    writes: [() => durability?.reason() ?? null, restores.reason, databaseClock.reason],
    reads: () => durability?.hiddenReason() ?? null,
    onCancelledWait: () => durability?.suspect(),
  });
  const db: Database = connect({
    url,
    pooler,
    poolSize: config.databasePoolSize,
    applicationName: name,
    // A command may go through a whole table, and its operator waits longer than a request.
    ...(isService
      ? { plans: 'by-index', connectTimeoutMs: CONNECT_TIMEOUT_MS }
      : { statementTimeoutMs: COMMAND_STATEMENT_TIMEOUT_MS }),
    onIdleError: error => logger.warn({ err: error }, 'database connection lost'),
    gate,
  });
  if (pooler && isService) await reportPooledSettings(db, logger);
  const close = async () => {
    // In parallel: a look at a database that hangs ends when its connection is cut.
    await Promise.all([durability?.close(), databaseClock.close(), restores.close(), db.destroy()]);
    await embedded?.stop();
  };
  try {
    const masterKeys =
      config.masterKeys.length > 0
        ? config.masterKeys
        : [await readOrCreateMasterKey(config.dataDirectory).catch(refuseGeneratedKey)];
    const keyring = createKeyring(masterKeys);
    return { db, directUrl, ownerUrl, keyring, durability, gate, databaseClock, restores, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The errors of the embedded database say what to do. */
function refuse(error: Error): never {
  throw new CannotStart(error.message, { cause: error });
}

function refuseGeneratedKey(error: Error): never {
  throw new CannotStart(
    `MASTER_KEY is not set, and the key in DATA_DIRECTORY cannot be used: ${error.message}.`,
    { cause: error },
  );
}

/**
 * Looks for the primary. Before the first migration the service's role may not exist, so that only the owner
 * of the tables can connect.
 * @throws CannotStart when several servers are named and none of them is a primary that answers.
 */
async function requirePrimary(
  variable: string,
  url: string,
  migrationUrl: string | null,
): Promise<void> {
  const urls = migrationUrl === null ? [url] : [url, migrationUrl];
  const found = await Promise.all(urls.map(each => primaryOf(each).locate()));
  if (found.includes(true)) return;
  throw new CannotStart(
    `None of the servers of ${variable} is a primary that answers: promote a standby, or start the primary.`,
  );
}

/** @throws CannotStart when the URL of the variable leads to a pooler. */
export async function refusePooler(
  variable:
    | 'DATABASE_URL'
    | 'DATABASE_DIRECT_URL'
    | 'DATABASE_REPORTS_URL'
    | 'MIGRATION_DATABASE_URL',
  url: string,
  applicationName: string,
): Promise<void> {
  if (await leadsToPostgres({ url, applicationName })) return;
  const remedy =
    variable === 'DATABASE_URL'
      ? 'Name PostgreSQL itself in DATABASE_DIRECT_URL as well.'
      : 'It has to be PostgreSQL itself.';
  throw new CannotStart(`${variable} leads to a pooler such as PgBouncer. ${remedy}`);
}

/** What a migration did. */
interface Migrated {
  /** Names of the migrations applied, in order. */
  readonly applied: readonly string[];
  /** The service's role, if it was missing and has been created; else null. */
  readonly createdRole: string | null;
}

/**
 * Migrates the database to the newest version as its owner, and gives the service's role the privileges
 * that it needs. There is no statement timeout: building an index on a large table takes longer than any
 * request may.
 * @param report Called before each step.
 * @throws ServiceRoleError when the service's role is missing and the owner may not create it, or when
 * the only role there is may not change the schema.
 */
export async function migrateStorage(
  { directUrl, ownerUrl }: Storage,
  report?: ReportStep,
): Promise<Migrated> {
  const role = roleOf(directUrl);
  try {
    return await withoutTimeLimit(ownerUrl, 'eps-migrate', async db => {
      const applied = await migrate(db, report);
      const created = ownerUrl !== directUrl && (await admitService(db, role));
      return { applied, createdRole: created ? role.name : null };
    });
  } catch (error) {
    if (ownerUrl !== directUrl || !isAccessDenied(error)) throw error;
    throw new ServiceRoleError(
      `The role ${role.name} may not change the schema: set MIGRATION_DATABASE_URL for its owner.`,
      { cause: error },
    );
  }
}

/** Runs `work` on a connection of its own, on which statements may take as long as they need. */
export async function withoutTimeLimit<T>(
  url: string,
  applicationName: string,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = connect({
    url,
    poolSize: 1,
    applicationName,
    statementTimeoutMs: 0,
    // A connection that breaks while it is used fails the work itself.
    onIdleError: () => undefined,
  });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** The database is older than this code base. */
export class MigrationsPending extends Error {
  constructor(names: readonly string[]) {
    super(`The database lacks ${names.join(', ')}: run "npx --no mp migrate" first.`);
    this.name = 'MigrationsPending';
  }
}

/**
 * Makes sure that the database can be used, and uses its clock from then on. Migrates the embedded one first;
 * in production, switches off test networks that are active as shipped.
 * @throws MigrationsPending for any other database that is not up to date, MasterKeyMissing, ServiceRoleError
 * when the service's role has not been granted anything yet.
 */
export async function prepareStorage(
  config: Config,
  storage: Storage,
  logger: Pick<FastifyBaseLogger, 'info'>,
): Promise<void> {
  const { databaseClock, db, keyring } = storage;
  if (config.databaseUrl === null) await migrateStorage(storage);
  const pending = await pendingInStorage(storage);
  if (pending.length > 0) throw new MigrationsPending(pending);
  await databaseClock.start();
  const clock = databaseClock.now;
  await checkMasterKeys(db, keyring, new Date(clock()));
  await declareSimulation(db, config, new Date(clock()));
  if (config.environment === 'production') {
    const networks = await switchOffTestNetworks({ db, clock, actor: 'service' });
    if (networks.length > 0) logger.info({ networks }, 'test networks are off in production');
  }
}

/**
 * Tells the database whether payments of live merchants may be simulated, which its triggers go by: a service that
 * simulates does, one in production never. Any other leaves it as it is.
 */
async function declareSimulation(
  db: Database,
  { environment, simulation }: Config,
  now: Date,
): Promise<void> {
  const isProduction = environment === 'production';
  if (!isProduction && !simulation) return;
  const isAllowed = await isSimulationAllowed(db);
  if (isProduction && isAllowed) await forbidSimulation(db);
  if (simulation && !isAllowed) await allowSimulation(db, now);
}

/** Names of the migrations that the database lacks, in order. */
async function pendingInStorage({ db, directUrl }: Storage): Promise<string[]> {
  try {
    return await pendingMigrations(db);
  } catch (error) {
    if (!isAccessDenied(error)) throw error;
    throw new ServiceRoleError(
      `The role ${roleOf(directUrl).name} may not read the database: run "npx --no mp migrate" first, with ` +
        'MIGRATION_DATABASE_URL.',
      { cause: error },
    );
  }
}
