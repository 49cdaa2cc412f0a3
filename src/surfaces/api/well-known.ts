import type { FastifyInstance } from 'fastify';
import type { RateLimits } from '#http/rate-limit.ts';
import { readPublicKeys } from '#reports/evidence/keys.ts';
import type { Database } from '#storage/database/connection.ts';

/** Where the public keys are that verify evidence (RFC 8615). */
const JWKS_PATH = '/.well-known/jwks.json';

interface WellKnownDependencies {
  readonly db: Database;
  readonly limits: RateLimits;
}

/** GET /.well-known/jwks.json: the public keys that verify evidence of payments. */
export function registerWellKnown(
  app: FastifyInstance,
  { db, limits }: WellKnownDependencies,
): void {
  app.get(JWKS_PATH, async (request, reply) => {
    await limits.countPage(request);
    return reply
      .header('cache-control', 'public, max-age=300')
      .header('access-control-allow-origin', '*')
      .type('application/jwk-set+json')
      .serializer(JSON.stringify)
      .send(await readPublicKeys(db));
  });
}
