import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config.ts';
import { connect, type Database } from './database/connection.ts';
import type { NonceStore } from './signing/nonce-store.ts';
import { createPostgresNonces } from './signing/postgres-nonces.ts';
import { createRedisNonces } from './signing/redis-nonces.ts';
import type { Storage } from './storage.ts';

/** Longest a partner report's statement may run, in milliseconds, before it is refused with E5002. */
const REPORT_TIMEOUT_MS = 15_000;

/** Opens the reports' own pool, on the read replica where one is configured. */
export function openReports(config: Config, storage: Storage, logger: FastifyBaseLogger): Database {
  return connect({
    url: config.reportsUrl ?? storage.databaseUrl,
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
