import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { buildApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createKeyring } from '../../../src/crypto/keyring.ts';
import { connect } from '../../../src/database/connection.ts';
import { createFixedRates } from '../../../src/rates/fixed-rates.ts';
import { createPostgresNonces } from '../../../src/signing/postgres-nonces.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { NOT_SERVING } from '../../../src/telemetry/readiness.ts';
import { NO_CHANGE_FEED, NO_LOOK_UPS } from '../../helpers/inert.ts';

export const INERT_PUBLIC_URL = 'https://pay.example.test';

/** The application without anything behind it, for what it says of itself: it never connects. */
export async function buildInertApp(env: Record<string, string> = {}): Promise<FastifyInstance> {
  const config = readConfig({ NODE_ENV: 'test', PUBLIC_URL: INERT_PUBLIC_URL, ...env });
  const db = connect({
    url: 'postgres://inert.invalid/none',
    poolSize: 1,
    applicationName: 'inert',
    onIdleError: () => undefined,
  });
  const app = await buildApp(config, {
    db,
    reads: db,
    reports: db,
    changes: NO_CHANGE_FEED,
    keyring: createKeyring([randomBytes(32)]),
    nonces: createPostgresNonces(db),
    rates: createFixedRates(),
    processor: null,
    lookUps: NO_LOOK_UPS,
    readiness: async () => NOT_SERVING,
    clock: Date.now,
    logger: createLogger({ logLevel: 'silent' }, 'inert'),
  });
  await app.ready();
  return app;
}
