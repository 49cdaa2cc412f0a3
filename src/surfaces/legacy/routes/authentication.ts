import type { FastifyInstance, FastifyRequest } from 'fastify';
import { announcesBody } from '#http/raw-body.ts';
import { sentValues } from '#http/sent-values.ts';
import { countLegacyRequest } from '#storage/repositories/keys/legacy-usage.ts';
import { readAuthorization } from '../authorization.ts';
import { LegacyRefusal } from '../refusal.ts';
import { authorizeUser, verifyUser } from '../verify-user.ts';
import type { LegacyDependencies } from './dependencies.ts';

/**
 * Requires Basic credentials of an active Merchant Admin on every route of `app`. A failure counts against the
 * address, a success against the client ID. Successes are also stored as the merchant's use of the older contract,
 * which operators see.
 */
export function registerBasicAuthentication(app: FastifyInstance, deps: LegacyDependencies): void {
  const { db, keyring, limits, admission } = deps;
  app.decorateRequest('principal', null);
  app.addHook('onRequest', async request => {
    admission.refuseOverload();
    limits.refuseExhaustedAddress(request);
    const record = await verify(request);
    request.keyId = record.user.client_id ?? record.user.id;
    limits.countKey(request);
    await countUsage(request, record.merchant.id, deps);
    request.principal = authorizeUser(record);
  });
  // The API key may have been withdrawn while a slow body arrived.
  app.addHook('preValidation', async request => {
    if (announcesBody(request.raw)) request.principal = authorizeUser(await verify(request));
  });

  async function verify(request: FastifyRequest) {
    try {
      return await verifyUser(
        db,
        keyring,
        readAuthorization(sentValues(request.raw, 'authorization')),
      );
    } catch (error) {
      if (error instanceof LegacyRefusal) limits.countFailure(request);
      throw error;
    }
  }
}

/** A count that cannot be stored is only logged: it must not fail a merchant's request. */
async function countUsage(
  request: FastifyRequest,
  merchantId: string,
  { db, clock }: LegacyDependencies,
): Promise<void> {
  const day = new Date(clock()).toISOString().slice(0, 10);
  const route = `${request.method} ${request.routeOptions.url}`;
  try {
    await countLegacyRequest(db, merchantId, day, route);
  } catch (error) {
    request.log.warn({ err: error }, 'use of the older contract was not counted');
  }
}
