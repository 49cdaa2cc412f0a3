import { Type } from '@sinclair/typebox';
import { ApiError } from '../../errors/api-error.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { CHECKOUT_PREFIX } from '../../payments/checkout-path.ts';
import { findLogo } from '../../repositories/accounts/merchant-logos.ts';
import type { CheckoutDependencies } from './dependencies.ts';

/** @param basePath What a proxy serves the service under; empty at the root. */
export function logoPath(basePath: string, hash: string): string {
  return `${basePath}${CHECKOUT_PREFIX}/logos/${hash}`;
}

/** GET /checkout/logos/:hash, a merchant's logo under the hash of its content. */
export function registerLogos(app: TypedApp, { db }: Pick<CheckoutDependencies, 'db'>): void {
  const params = Type.Object({ hash: Type.String({ pattern: '^[0-9a-f]{64}$' }) });
  app.get('/logos/:hash', { schema: { params } }, async (request, reply) => {
    const logo = await findLogo(db, request.params.hash);
    if (logo === undefined) throw new ApiError('E3001', 'There is no such logo.');
    return reply
      .type(logo.type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('x-content-type-options', 'nosniff')
      .send(logo.content);
  });
}
