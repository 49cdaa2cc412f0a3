import { registerFormBody } from '#http/form-body.ts';
import { registerPageValidation } from '#http/page-validation.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { failUnknownRoutesIn } from '#http/unknown-routes.ts';
import { registerAccents } from './accent.ts';
import { CHECKOUT_ASSETS } from './assets.ts';
import type { CheckoutDependencies } from './dependencies.ts';
import { sendFailure } from './failures.ts';
import { registerForms } from './forms.ts';
import { registerLogos } from './logo.ts';
import { createPages, registerPages } from './pages.ts';

/** A form has one field of about ten characters. */
const FORM_LIMIT_BYTES = 4 * 1024;

/**
 * The pages on which customers of standard accounts pay. The token in the link is the only
 * authentication. The pages set no cookies and work without scripts.
 */
export async function checkoutPlugin(app: TypedApp, deps: CheckoutDependencies): Promise<void> {
  const { limits, publicUrl, isUnavailable, simulation } = deps;

  app.setErrorHandler((error, request, reply) =>
    sendFailure(error, request, reply, { publicUrl, isUnavailable, simulation }),
  );
  failUnknownRoutesIn(app);
  app.addHook('onRequest', async request => limits.countCheckout(request));
  registerFormBody(app, FORM_LIMIT_BYTES);
  registerPageValidation(app);
  CHECKOUT_ASSETS.register(app);
  registerAccents(app);
  registerLogos(app, deps);
  const pages = createPages(deps);
  registerPages(app, deps, pages);
  registerForms(app, deps, pages);
}
