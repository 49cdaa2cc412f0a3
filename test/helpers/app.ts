import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { inject, vi } from 'vitest';
import type { PasswordWork } from '#accounts/people/password-hash.ts';
import { type Config, readConfig } from '#config/config.ts';
import { createKeyring, type Keyring } from '#crypto/keyring.ts';
import type { LookUps } from '#onchain/watching/look-up/look-ups.ts';
import { openProcessors } from '#payments/processors/open-processor.ts';
import { createFixedRates, type FixedRates } from '#payments/rates/fixed-rates.ts';
import type { NonceStore } from '#signing/nonce-store.ts';
import { createPostgresNonces } from '#signing/postgres-nonces.ts';
import { createRedisNonces } from '#signing/redis-nonces.ts';
import { type ChangeFeed, openChangeFeed } from '#storage/database/change-feed.ts';
import { connect, type Database } from '#storage/database/connection.ts';
import { connectPipeline } from '#storage/database/pipeline.ts';
import { createLogger } from '#telemetry/logger.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import type { Clock } from '#time/clock.ts';
import { buildApp } from '../../src/app.ts';
import { cloneDatabase } from './database.ts';
import { NO_CHANGE_FEED, NO_LOOK_UPS } from './inert.ts';
import { shareStart } from './shared-start.ts';

export interface TestApp {
  readonly app: FastifyInstance;
  readonly db: Database;
  readonly databaseUrl: string;
  /** Empty unless the application gets change notifications. */
  readonly changes: ChangeFeed;
  readonly keyring: Keyring;
  /** The least work for argon2id, unless the application hashes passwords as in production. */
  readonly passwordWork?: PasswordWork;
  /** Fixed prices; switch an asset off to make it unavailable. */
  readonly rates: FixedRates;
  /** The application's time; move it instead of waiting. */
  readonly clock: { now: number; (): number };
  /** Parsed log lines, newest last. */
  readonly logs: Record<string, unknown>[];
  close(): Promise<void>;
}

export interface TestAppOptions {
  /** Where nonces are stored: PostgreSQL unless given, or a Redis server of the test's own, by its URL. */
  readonly nonces?: 'postgres' | 'redis' | { readonly redisUrl: string };
  /** Since when nonces in PostgreSQL have been kept; forever unless given. */
  readonly keptSince?: () => number;
  readonly env?: Record<string, string>;
  /**
   * Whether it gets notifications of account changes, and therefore caches accounts; otherwise it always queries
   * them. Notifications come from the database, or through another URL.
   */
  readonly remembers?: boolean | { readonly feedUrl: string };
  /** Statement timeout of partner reports, in milliseconds. */
  readonly reportTimeoutMs?: number;
  /** Looks up transactions on chains; finds nothing unless given. */
  readonly lookUps?: LookUps;
  readonly keyring?: Keyring;
  /** Whether hashing a password takes a tenth of a second, as in production. */
  readonly hashesSlowly?: true;
  readonly clock?: TestApp['clock'];
  /** Runs a second replica with the database and the keys of another application. */
  readonly beside?: TestApp;
  readonly database?: { readonly db: Database; readonly url: string };
}

/**
 * The longest that a statement and a claim of a nonce may take, in milliseconds: no request fails because the machine
 * stalls for a while.
 */
const PATIENT_MS = 10_000;

/** The least work for argon2id. */
const LITTLE_WORK: PasswordWork = { memory: 8, passes: 1, parallelism: 1 };

/** A whole millisecond, so that timestamps survive a round trip through ISO 8601. */
const START = Date.UTC(2026, 4, 17, 12, 0, 0, 0);

/**
 * The application on its own database, with a clock that stands still. The rate limit is too high to
 * matter unless the environment sets it.
 */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { beside } = options;
  const owned = beside || options.database ? undefined : await cloneDatabase();
  const db = beside?.db ?? options.database?.db ?? owned?.db;
  const databaseUrl = beside?.databaseUrl ?? options.database?.url ?? owned?.url;
  if (db === undefined || databaseUrl === undefined) throw new Error('no database');
  const config = testConfig(options.env);
  const keyring = options.keyring ?? beside?.keyring ?? createKeyring([randomBytes(32)]);
  const clock = options.clock ?? beside?.clock ?? stoppedClock();
  const rates = beside?.rates ?? createFixedRates();
  const logs: Record<string, unknown>[] = [];
  const logger = createLogger({ logLevel: 'info' }, 'test', {
    write: (line: string) => void logs.push(JSON.parse(line)),
  });
  const nonces = openNonces(options.nonces ?? 'postgres', db, clock, options.keptSince);
  const reports = connect({
    url: databaseUrl,
    poolSize: 4,
    applicationName: 'test-reports',
    plans: 'by-index',
    onIdleError: () => undefined,
    ...(options.reportTimeoutMs === undefined
      ? {}
      : { statementTimeoutMs: options.reportTimeoutMs }),
  });
  const reads = connectPipeline({
    url: databaseUrl,
    connections: 2,
    applicationName: 'test-reads',
    statementTimeoutMs: PATIENT_MS,
    onError: () => undefined,
  });
  const { remembers } = options;
  const feedUrl = typeof remembers === 'object' ? remembers.feedUrl : databaseUrl;
  const changes = remembers ? await openTestFeed(feedUrl) : NO_CHANGE_FEED;
  const processors = await openProcessors(config, keyring, clock);
  const lookUps = options.lookUps ?? NO_LOOK_UPS;
  const passwords = options.hashesSlowly ? {} : { passwordWork: LITTLE_WORK };
  const readiness = createReadiness({ db, nonces, clock });
  const deps = {
    db,
    reads,
    reports,
    keyring,
    changes,
    nonces,
    readiness,
    rates,
    ...processors,
    clock,
    lookUps,
    logger,
    ...passwords,
  };
  shareStart();
  const app = await buildApp(config, deps);
  await app.ready();
  return {
    app,
    db,
    databaseUrl,
    changes,
    keyring,
    ...passwords,
    rates,
    clock,
    logs,
    async close() {
      await app.close();
      await nonces.close();
      await Promise.all([reads.destroy(), reports.destroy(), changes.close()]);
      await owned?.drop();
    },
  };
}

export function testConfig(env: Record<string, string> = {}): Config {
  return readConfig({
    NODE_ENV: 'test',
    PUBLIC_URL: 'https://pay.example.test',
    RATE_LIMIT_MAX: '1000000',
    ...env,
  });
}

/** A feed that has already heard something. */
async function openTestFeed(url: string): Promise<ChangeFeed> {
  const feed = openChangeFeed({ url, applicationName: 'test-changes', onError: () => undefined });
  await vi.waitUntil(() => feed.isCurrent(), { timeout: 5_000 });
  return feed;
}

function stoppedClock(): TestApp['clock'] {
  const clock = () => clock.now;
  clock.now = START;
  return clock;
}

function openNonces(
  where: NonNullable<TestAppOptions['nonces']>,
  db: Database,
  clock: Clock,
  keptSince?: () => number,
): NonceStore {
  if (where === 'postgres') return createPostgresNonces(db, keptSince, PATIENT_MS);
  const url = where === 'redis' ? redisUrl() : where.redisUrl;
  return createRedisNonces(url, { clock, onError: () => undefined });
}

function redisUrl(): string {
  const url = inject('redisServer');
  if (url === null) throw new Error('there is no Redis server');
  return url;
}
