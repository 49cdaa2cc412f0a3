import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import { type ChangeFeed, openChangeFeed } from '../database/change-feed.ts';
import { connect, type Database } from '../database/connection.ts';
import { connectPipeline } from '../database/pipeline.ts';
import type { NonceStore } from '../signing/nonce-store.ts';
import { createPostgresNonces } from '../signing/postgres-nonces.ts';
import { createRedisNonces } from '../signing/redis-nonces.ts';
import type { Storage } from './storage.ts';

/** Longest a partner report's statement may run, in milliseconds, before it is refused with E5002. */
const REPORT_TIMEOUT_MS = 15_000;

/** Connections that all requests share for short reads: with two, a slow one holds up few others. */
const SHARED_READ_CONNECTIONS = 2;

/** Opens the connections that requests share for their short reads. */
export function openReads({ directUrl }: Storage, logger: FastifyBaseLogger): Database {
  return connectPipeline({
    url: directUrl,
    connections: SHARED_READ_CONNECTIONS,
    applicationName: 'eps-reads',
    onError: error => logger.warn({ err: error }, 'database connection lost or not opened'),
  });
}

/** Starts to hear of changes to accounts and networks. */
export function openChanges({ directUrl }: Storage, logger: FastifyBaseLogger): ChangeFeed {
  return openChangeFeed({
    url: directUrl,
    applicationName: 'eps-changes',
    onError: error =>
      logger.warn({ err: error }, 'changes are not heard; accounts are read for each request'),
  });
}

/** Opens the reports' own pool, on the read replica where one is configured. */
export function openReports(config: Config, storage: Storage, logger: FastifyBaseLogger): Database {
  return connect({
    url: config.reportsUrl ?? storage.directUrl,
    poolSize: config.reportsPoolSize,
    applicationName: 'eps-reports',
    statementTimeoutMs: REPORT_TIMEOUT_MS,
    onIdleError: error => logger.warn({ err: error }, 'report connection lost'),
  });
}

/** Opens the nonce store that the configuration chooses. */
export function openNonces(config: Config, db: Database, logger: FastifyBaseLogger): NonceStore {
  if (config.redisUrl === null) return createPostgresNonces(db);
  return createRedisNonces(config.redisUrl, error =>
    logger.warn({ err: error }, 'nonce store connection failed'),
  );
}
