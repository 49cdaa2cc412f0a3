import cookie from '@fastify/cookie';
import { registerFormBody } from '#http/form-body.ts';
import { registerPageValidation } from '#http/page-validation.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { failUnknownRoutesIn } from '#http/unknown-routes.ts';
import { refuseUnusableText } from '#http/usable-text.ts';
import { CHECKOUT_ASSETS } from '../checkout/page/assets.ts';
import { registerAccounts } from './accounts.ts';
import { registerActivity } from './activity.ts';
import { registerAppearance } from './appearance/index.ts';
import { CHECKOUT_FILES } from './appearance/preview.ts';
import { registerKeys } from './developer/keys/index.ts';
import { registerRequests } from './developer/requests/index.ts';
import { registerWebhooks } from './developer/webhooks/index.ts';
import { registerHome } from './home/index.ts';
import { registerPanelAccess } from './hooks/access.ts';
import type { PanelDependencies } from './hooks/dependencies.ts';
import { texts } from './hooks/language.ts';
import { refusePrivateKeys } from './hooks/private-keys.ts';
import { registerJoin } from './join/index.ts';
import { PANEL_ASSETS } from './kit/assets.ts';
import { registerConfirmation } from './kit/confirmation.ts';
import { Exports } from './kit/exports.ts';
import { explainFailure } from './kit/failures.ts';
import { panelHeaders, registerPages } from './kit/pages.ts';
import { registerPartner } from './partner/index.ts';
import { registerPayments } from './payments/index.ts';
import { registerUnmatched } from './payments/unmatched/index.ts';
import { registerProfile } from './profile/index.ts';
import { readChangeNotices } from './settings/change-notices.ts';
import { registerSettings } from './settings/index.ts';
import { registerSignIn } from './sign-in/index.ts';
import { registerTeam } from './team/index.ts';

/** Size of the largest form, in bytes. */
const FORM_LIMIT_BYTES = 16 * 1024;

/** The pages on which people see and manage their accounts. They work without scripts. */
export async function panelPlugin(app: TypedApp, deps: PanelDependencies): Promise<void> {
  const headers = panelHeaders(deps.panelUrl);
  app.setErrorHandler((error, request, reply) => explainFailure(error, request, reply, deps));
  app.addHook('onSend', async (request, reply) => {
    const { policy } = request.routeOptions.config;
    if (!request.isPanelOnOtherHost) reply.headers({ ...headers, ...policy });
  });
  registerPages(app, deps);
  await app.register(cookie);
  app.register(async files => PANEL_ASSETS.register(files));
  app.register(async files => CHECKOUT_ASSETS.register(files), { prefix: CHECKOUT_FILES });
  app.register(async pages => {
    failUnknownRoutesIn(pages);
    registerFormBody(pages, FORM_LIMIT_BYTES);
    registerPageValidation(pages);
    registerPanelAccess(pages, deps, (request, account, person) =>
      readChangeNotices(deps, texts(request), account, person),
    );
    // After access, so that the request is counted and its page has the person's navigation.
    refuseUnusableText(pages);
    // Before the page of a confirmation, which repeats what was sent.
    refusePrivateKeys(pages);
    registerConfirmation(pages, deps);
    registerAccounts(pages, deps);
    registerSignIn(pages, deps);
    registerJoin(pages, deps);
    registerProfile(pages, deps);
    const exports = new Exports(deps);
    registerHome(pages, deps);
    registerPayments(pages, deps, exports);
    registerUnmatched(pages, deps, exports);
    registerSettings(pages, deps);
    registerTeam(pages, deps);
    registerActivity(pages, deps);
    registerAppearance(pages, deps);
    registerKeys(pages, deps);
    registerWebhooks(pages, deps, exports);
    registerRequests(pages, deps, exports);
    registerPartner(pages, deps, exports);
  });
}
