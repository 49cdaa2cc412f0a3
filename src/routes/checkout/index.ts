import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { failUnknownRoutesIn } from '../../http/unknown-routes.ts';
import { isCheckoutToken } from '../../payments/checkout-token.ts';
import { CHECKOUT_ASSETS } from './assets.ts';
import type { CheckoutDependencies } from './dependencies.ts';
import { sendFailure } from './failures.ts';
import { registerFormBody } from './form-body.ts';
import { registerForms } from './forms.ts';
import { createPages, registerPages } from './pages.ts';

/**
 * The pages on which customers of standard accounts pay. The token in the link is the only
 * authentication. The pages set no cookies and work without scripts.
 */
export function registerCheckout(app: FastifyInstance, deps: CheckoutDependencies): void {
  const { limits, publicUrl, isUnavailable, simulation } = deps;

  app.setErrorHandler((error, request, reply) =>
    sendFailure(error, request, reply, { publicUrl, isUnavailable, simulation }),
  );
  failUnknownRoutesIn(app);
  app.addHook('onRequest', async request => limits.countCheckout(request));
  // Checked before any route puts the token into a response: redirects of forms do not look it up.
  app.addHook('onRequest', async request => {
    const { token } = request.params as { token?: string };
    if (token !== undefined && !isCheckoutToken(token)) throw new ApiError('E3001');
  });
  registerFormBody(app);
  CHECKOUT_ASSETS.register(app);
  const pages = createPages(deps);
  registerPages(app, deps, pages);
  registerForms(app, deps, pages);
}
