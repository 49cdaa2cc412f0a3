import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { PasswordHashing } from '#accounts/people/password-hash.ts';
import type { Config } from '#config/config.ts';
import { CannotStart } from '#errors/cannot-start.ts';
import type { LookUps } from '#onchain/watching/look-up/look-ups.ts';
import { openLookUps } from '#onchain/watching/look-up/open-look-ups.ts';
import { openProcessors, type Processors } from '#payments/processors/open-processor.ts';
import { openRates } from '#payments/rates/open-rates.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import type { NonceServer, NonceStore } from '#signing/nonce-store.ts';
import { createPostgresNonces } from '#signing/postgres-nonces.ts';
import { type ChangeFeed, openChangeFeed } from '#storage/database/change-feed.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import type { Durability } from '#storage/database/durability.ts';
import { connectPipeline, SHARED_READ_CONNECTIONS } from '#storage/database/pipeline.ts';
import { CONNECT_TIMEOUT_MS, REPORT_STATEMENT_TIMEOUT_MS } from '#storage/database/time-limits.ts';
import { createWriteGate, type WriteGate } from '#storage/database/write-gate.ts';
import { createReadiness, type Readiness } from '#telemetry/readiness.ts';
import type { Clock } from '#time/clock.ts';
import { refusePooler, type Storage } from './storage.ts';

/** What the API works with. */
export interface Dependencies extends Pick<Storage, 'db'>, PasswordHashing, Processors {
  /** Connections that all requests share for short reads. */
  readonly reads: Database;
  /** A pool of its own for partner reports, possibly on a read replica. */
  readonly reports: Database;
  /** Invalidates cached accounts and networks. */
  readonly changes: ChangeFeed;
  readonly nonces: NonceStore;
  readonly readiness: () => Promise<Readiness>;
  readonly rates: Rates;
  readonly clock: Clock;
  /** Asks chains for transactions that the ledger does not know. */
  readonly lookUps: LookUps;
  readonly logger: FastifyBaseLogger;
}

/** Close it after the application. */
interface OpenDependencies extends Dependencies {
  close(): Promise<void>;
}

/**
 * Opens everything that the API works with beside its storage.
 * @throws CannotStart when DATABASE_REPORTS_URL leads to a pooler, or REDIS_URL to a server that may evict
 * nonces or does not match its mode.
 */
export async function openDependencies(
  config: Config,
  { databaseClock, db, directUrl, durability, gate, keyring, restores }: Storage,
  logger: FastifyBaseLogger,
): Promise<OpenDependencies> {
  if (config.reportsUrl !== null) {
    await refusePooler('DATABASE_REPORTS_URL', config.reportsUrl, 'eps-reports');
  }
  const clock = databaseClock.now;
  // The nonce store comes first, because it may be refused.
  const keptSince = () => restores.confirmed()?.confirmedAt.getTime() ?? Number.NEGATIVE_INFINITY;
  // If the mark could not be read, the start has already waited for the same servers.
  const waitMs = restores.isMarkUnreadable() ? 0 : NONCES_WAIT_MS;
  const nonces = await openNonces(config, db, { clock, logger, keptSince, waitMs });
  const processors = await openProcessors(config, keyring, clock);
  const rates = openRates(config, { clock, log: logger });
  const reads = openReads(directUrl, logger, gate);
  const reports = connect({
    url: config.reportsUrl ?? directUrl,
    poolSize: config.reportsPoolSize,
    applicationName: 'eps-reports',
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: REPORT_STATEMENT_TIMEOUT_MS,
    plans: 'by-index',
    mayBeStandby: config.reportsUrl !== null,
    gate: config.reportsUrl === null ? gate : replicaGate(durability),
    onIdleError: error => logger.warn({ err: error }, 'report connection lost'),
  });
  const changes = openChanges(directUrl, logger);
  const lookUps = openLookUps({
    db,
    keyring,
    clock,
    logger,
    isProduction: config.environment === 'production',
  });
  const readiness = createReadiness({ db, nonces, databaseClock, restores });
  return {
    db,
    keyring,
    reads,
    reports,
    changes,
    nonces,
    readiness,
    rates,
    ...processors,
    clock,
    lookUps,
    logger,
    async close() {
      await Promise.all([
        ...[nonces.close(), lookUps.close(), changes.close()],
        ...[reads.destroy(), reports.destroy()],
      ]);
    },
  };
}

/**
 * A replica shows what it has received, even if the synchronous standby has not. So it is not read while the
 * standby confirms nothing.
 */
function replicaGate(durability: Durability | null): WriteGate {
  const reads = () => durability?.hiddenReason() ?? durability?.reason() ?? null;
  return createWriteGate({ writes: [], reads });
}

/** Opens the connections that requests share for their short reads. */
export function openReads(url: string, logger: FastifyBaseLogger, gate?: WriteGate): Database {
  return connectPipeline({
    url,
    connections: SHARED_READ_CONNECTIONS,
    applicationName: 'eps-reads',
    gate,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    onError: error => logger.warn({ err: error }, 'database connection lost or not opened'),
  });
}

/** Listens for changes to accounts and networks. */
export function openChanges(url: string, logger: FastifyBaseLogger): ChangeFeed {
  return openChangeFeed({
    url,
    applicationName: 'eps-changes',
    onError: error =>
      logger.warn({ err: error }, 'change feed lost; accounts are read for each request'),
  });
}

/** Longest that a start waits for the nonce store's first response, in milliseconds. */
const NONCES_WAIT_MS = 10_000;
const NONCES_POLL_MS = 100;

interface OpenNoncesOptions {
  readonly clock: Clock;
  readonly logger: Pick<FastifyBaseLogger, 'warn' | 'error'>;
  /** Since when PostgreSQL has kept every nonce, in milliseconds since the epoch. */
  readonly keptSince?: () => number;
  readonly waitMs?: number;
}

/**
 * Opens the nonce store that the configuration chooses, and waits for its first response: a busy machine may
 * take longer to connect than a request may wait. Without a response the process starts anyway, is not ready,
 * and serves only reads.
 * @throws CannotStart for a Redis that may evict nonces, or does not match the mode of its URL.
 */
export async function openNonces(
  config: Pick<Config, 'redisUrl'>,
  db: Database,
  { clock, logger, keptSince, waitMs = NONCES_WAIT_MS }: OpenNoncesOptions,
): Promise<NonceStore> {
  const { redisUrl } = config;
  if (redisUrl === null) return createPostgresNonces(db, keptSince);
  const [{ createRedisNonces }, { findWrongMode }] = await Promise.all([
    import('#signing/redis-nonces.ts'),
    import('#signing/redis-mode.ts'),
  ]);
  const nonces = createRedisNonces(redisUrl, {
    clock,
    onError: error => logger.warn({ err: error }, 'nonce store connection failed'),
  });
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const [servers, wrong] = await Promise.all([nonces.probe(), findWrongMode(redisUrl)]);
    const problem = wrong ?? describeEviction(servers);
    if (problem !== null) {
      await nonces.close();
      throw new CannotStart(problem);
    }
    const failure = servers.find(each => each.failure !== null)?.failure;
    if (failure === undefined) return nonces;
    if (performance.now() > giveUpAt) {
      const message = servers.every(each => each.failure !== null)
        ? 'started without the nonce store: REDIS_URL leads to no server that answers'
        : 'started without a part of the nonce store: not every server of REDIS_URL answers';
      logger.error({ err: failure }, message);
      return nonces;
    }
    await sleep(NONCES_POLL_MS);
  }
}

function describeEviction(servers: readonly NonceServer[]): string | null {
  const found = servers.find(({ evictionPolicy }) => evictionPolicy !== null);
  if (found === undefined) return null;
  const server = found.name === null ? 'a server' : `the server ${found.name}, which is one`;
  return (
    `REDIS_URL leads to ${server} that may evict used nonces (maxmemory-policy ${found.evictionPolicy}), ` +
    'so that requests could be replayed. Set its maxmemory-policy to noeviction.'
  );
}
