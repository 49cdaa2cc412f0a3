import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';
import { isCheckoutToken } from '../../payments/checkout-token.ts';
import { CHECKOUT_ASSETS } from './assets.ts';
import type { CheckoutDependencies } from './dependencies.ts';
import { sendFailure } from './failures.ts';
import { registerFormBody } from './form-body.ts';
import { registerForms } from './forms.ts';
import { createPages, registerPages } from './pages.ts';

/**
 * The pages on which customers of standard accounts pay. Whoever has the link may use it: there is no
 * other authentication, no cookie, and nothing that needs a script.
 */
export function registerCheckout(app: FastifyInstance, deps: CheckoutDependencies): void {
  const { limits, publicUrl, isUnavailable } = deps;

  app.setErrorHandler((error, request, reply) =>
    sendFailure(error, request, reply, { publicUrl, isUnavailable }),
  );
  // Makes a path without a route fail here, in the looks of this part.
  app.setNotFoundHandler(() => {
    throw new ApiError('E3001');
  });
  app.addHook('onRequest', async request => limits.countCheckout(request));
  // Before any route writes it into an answer, even a redirect that needs no payment.
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
