import { Type } from '@sinclair/typebox';
import { ImageRefused, type Logo, parseLogo } from '#accounts/logo.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import { findLogo } from '#storage/repositories/accounts/merchant-logos.ts';
import type { CheckoutDependencies } from './dependencies.ts';

/** @param basePath The path that a proxy serves the service under; empty at the root. */
export function logoPath(basePath: string, hash: string): string {
  return `${basePath}${CHECKOUT_PREFIX}/logos/${hash}`;
}

/** GET /checkout/logos/:hash, a merchant's logo under the hash of its content. */
export function registerLogos(app: TypedApp, { db }: Pick<CheckoutDependencies, 'db'>): void {
  const params = Type.Object({ hash: Type.String({ pattern: '^[0-9a-f]{64}$' }) });
  app.get('/logos/:hash', { schema: { params } }, async (request, reply) => {
    const logo = await findLogo(db, request.params.hash);
    const image = logo && cut(logo.content);
    if (image === undefined) throw new ApiError('E3001', 'There is no such logo.');
    return reply
      .type(image.type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('x-content-type-options', 'nosniff')
      .send(image.content);
  });
}

/**
 * Cuts a stored logo to the image itself, since older ones were stored with more; undefined if browsers would not
 * show it.
 */
function cut(content: Buffer): Logo | undefined {
  try {
    return parseLogo(content);
  } catch (error) {
    if (error instanceof ImageRefused) return undefined;
    throw error;
  }
}
