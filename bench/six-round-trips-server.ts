import type { IncomingMessage } from 'node:http';
/**
 * The service with a create in a transaction of six round trips: begin, claim of the idempotency key,
 * payment, event, response, commit. Everything else is the service's own code. Each merchant is read once.
 */
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { KnownKey } from '#accounts/keys/verify-credentials.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import { registerErrorHandler } from '#errors/handler.ts';
import { Admission } from '#http/admission.ts';
import { principalOf, registerAuthentication } from '#http/authentication.ts';
import { registerJsonBody } from '#http/json-body.ts';
import { createRateLimits } from '#http/rate-limit.ts';
import { createRequestLog, registerRequestLog } from '#http/request-log.ts';
import { securityHeaders } from '#http/security-headers.ts';
import { registerValidation } from '#http/validation.ts';
import { checkIdempotencyKey, sha256 } from '#payments/idempotency.ts';
import { chooseNetworks } from '#payments/offered-networks.ts';
import { toPaymentObject, toPaymentSnapshot } from '#payments/payment-object.ts';
import { openChanges, openNonces, openReads } from '#runtime/dependencies.ts';
import { aborted, runProcess } from '#runtime/process.ts';
import { openStorage } from '#runtime/storage.ts';
import { CreatePaymentBodySchema, CreatePaymentResponseSchema } from '#schemas/create-payment.ts';
import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import { columnTypes } from '#storage/database/column-values.ts';
import { FreshCache } from '#storage/database/fresh-cache.ts';
import { findMerchantSetup } from '#storage/repositories/accounts/merchant-setup.ts';
import { registerHealth } from '#surfaces/api/health.ts';
import { createReadiness } from '#telemetry/readiness.ts';
import { SIX_ROUND_TRIPS as SIX } from './statements.ts';

const ROUTE = 'POST /external/v1/payments/prompt';
const MINUTE_MS = 60_000;

await runProcess('six-round-trips', async (config, logger, signal) => {
  const storage = await openStorage(config, { holder: 'service', name: 'six', logger });
  const clock = Date.now;
  const nonces = await openNonces(config, storage.db, { clock, logger });
  const pool = new pg.Pool({
    connectionString: storage.directUrl,
    max: config.databasePoolSize,
    types: columnTypes,
  });
  const app = Fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => uuidv7(),
  });
  const headers = securityHeaders(config.publicUrl);
  const readAddress = ({ socket }: IncomingMessage) => socket.remoteAddress;
  registerRequestLog(app, createRequestLog(logger as FastifyBaseLogger, headers, readAddress));
  registerErrorHandler(app, { publicUrl: config.publicUrl, isUnavailable: () => false });
  registerValidation(app);
  const limits = await createRateLimits(app, {
    max: config.rateLimitMax,
    windowSeconds: config.rateLimitWindowSeconds,
    clock,
  });
  const reads = openReads(storage.directUrl, logger);
  const changes = openChanges(storage.directUrl, logger);
  const knownKeys = new FreshCache<KnownKey>(changes, 10_000);
  registerHealth(app, createReadiness({ db: storage.db, nonces }));

  const known = new Map<string, ReturnType<typeof readMerchant>>();
  async function readMerchant(id: string) {
    const setup = await findMerchantSetup(storage.db, id);
    if (setup === undefined || setup.mainBranchId === null)
      throw new Error('the merchant has no main branch');
    const networks = chooseNetworks(undefined, setup.networks, 'watched');
    return {
      branchId: setup.mainBranchId,
      networks: networks.map(network => network.id),
      windowMs: Math.max(...networks.map(network => network.windowMinutes)) * MINUTE_MS,
    };
  }

  app.register(async v1 => {
    registerJsonBody(v1);
    registerAuthentication(v1, {
      nonces,
      limits,
      clock,
      credentials: { db: reads, keyring: storage.keyring, knownKeys },
      admission: new Admission(config.requestsInFlightMax),
      explainSignatures: false,
      publicUrl: config.publicUrl,
    });
    v1.post(
      '/external/v1/payments/prompt',
      {
        config: { access: { principals: ['merchant'], scope: 'payment_prompts:write' } },
        schema: {
          querystring: EmptyQuerySchema,
          body: CreatePaymentBodySchema,
          response: { 201: CreatePaymentResponseSchema },
        },
      },
      async (request, reply) => {
        const { accountId, keyId } = principalOf(request);
        const { customerReferenceId } = request.body as { customerReferenceId: string };
        const key = String(request.headers['idempotency-key']);
        checkIdempotencyKey(key);
        const merchant = known.get(accountId) ?? readMerchant(accountId);
        known.set(accountId, merchant);
        const { branchId, networks, windowMs } = await merchant;
        const now = new Date(clock());
        const expiresAt = new Date(now.getTime() + windowMs);
        const token = newToken();
        const client = await pool.connect();
        const query = (statement: { name: string; text: string }, values: unknown[]) =>
          client.query({ ...statement, values });
        try {
          await client.query('begin');
          const claimed = [accountId, ROUTE, key];
          await query(SIX.claim, [...claimed, sha256(request.rawBody), now]);
          const { rows } = await query(SIX.payment, [
            ...[uuidv7(), accountId, branchId, keyId, networks, expiresAt, now],
            ...[customerReferenceId, hashToken(token)],
          ]);
          const [payment] = rows;
          const snapshot = JSON.stringify(toPaymentSnapshot(payment));
          await query(SIX.event, [uuidv7(), accountId, payment.id, now, snapshot]);
          const created = {
            prompt: toPaymentObject(payment),
            checkoutUrl: `${config.publicUrl}/checkout/${token}`,
          };
          const serialize = reply.getSerializationFunction('201') ?? JSON.stringify;
          const body = Buffer.from(String(serialize(created)));
          await query(SIX.response, [...claimed, 201, body]);
          await client.query('commit');
          reply.status(201).type('application/json; charset=utf-8').send(body);
        } catch (error) {
          await client.query('rollback');
          throw error;
        } finally {
          client.release();
        }
        return reply;
      },
    );
  });
  try {
    await app.listen({ host: config.host, port: config.port });
    await aborted(signal);
    await app.close();
  } finally {
    await Promise.all([pool.end(), reads.destroy(), changes.close()]);
    await nonces.close();
    await storage.close();
  }
});
