import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { CHECKOUT_PREFIX } from '../../payments/checkout-path.ts';
import { findLogo } from '../../repositories/merchant-logos.ts';
import type { CheckoutDependencies } from './dependencies.ts';

/** @param basePath What a proxy serves the service under; empty at the root. */
export function logoPath(basePath: string, hash: string): string {
  return `${basePath}${CHECKOUT_PREFIX}/logos/${hash}`;
}

/** GET /checkout/logos/:hash, a merchant's logo under the hash of its content. */
export function registerLogos(
  app: FastifyInstance,
  { db }: Pick<CheckoutDependencies, 'db'>,
): void {
  app.get<{ Params: { hash: string } }>('/logos/:hash', async ({ params }, reply) => {
    const logo = /^[0-9a-f]{64}$/.test(params.hash) ? await findLogo(db, params.hash) : undefined;
    if (logo === undefined) throw new ApiError('E3001', 'There is no such logo.');
    return reply
      .type(logo.type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('x-content-type-options', 'nosniff')
      .send(logo.content);
  });
}
