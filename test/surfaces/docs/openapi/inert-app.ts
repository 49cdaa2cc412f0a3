import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { readConfig } from '#config/config.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { createSandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import { createPostgresNonces } from '#signing/postgres-nonces.ts';
import { connect } from '#storage/database/connection.ts';
import { createLogger } from '#telemetry/logger.ts';
import { NOT_SERVING } from '#telemetry/readiness.ts';
import { buildApp } from '../../../../src/app.ts';
import { NO_CHANGE_FEED, NO_LOOK_UPS } from '../../../helpers/inert.ts';

const INERT_PUBLIC_URL = 'https://pay.example.test';

/** The application without a backend, for its documentation and routes: it never connects. */
export async function buildInertApp(env: Record<string, string> = {}): Promise<FastifyInstance> {
  const config = readConfig({ NODE_ENV: 'test', PUBLIC_URL: INERT_PUBLIC_URL, ...env });
  const db = connect({
    url: 'postgres://inert.invalid/none',
    poolSize: 1,
    applicationName: 'inert',
    onIdleError: () => undefined,
  });
  const keyring = createKeyring([randomBytes(32)]);
  const app = await buildApp(config, {
    db,
    reads: db,
    reports: db,
    changes: NO_CHANGE_FEED,
    keyring,
    nonces: createPostgresNonces(db),
    rates: createFixedRates(),
    processor: null,
    sandbox: createSandboxProcessor(keyring, INERT_PUBLIC_URL),
    lookUps: NO_LOOK_UPS,
    readiness: async () => NOT_SERVING,
    clock: Date.now,
    logger: createLogger({ logLevel: 'silent' }, 'inert'),
  });
  await app.ready();
  return app;
}
