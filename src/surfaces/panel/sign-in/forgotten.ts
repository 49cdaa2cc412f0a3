import { Type } from '@sinclair/typebox';
import { askForLink } from '#accounts/people/forgotten-password.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { FOR_ANYBODY, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderField } from '../kit/form.ts';
import { redirectTo } from '../kit/pages.ts';
import { texts } from '../texts/index.ts';

const { forgotten, email } = texts.signIn;

/** Below the panel. */
export const FORGOTTEN_PATH = '/forgotten-password';
const ASKED = `${FORGOTTEN_PATH}/asked`;
const ForgottenForm = Type.Object({ email: Type.String() });

/**
 * Requests a link for a new password. The response is the same whether or not anybody has the e-mail that was typed.
 */
export function registerForgotten(app: TypedApp, deps: PanelDependencies): void {
  const { limits, panelUrl, sendsMail } = deps;
  const action = basePathOf(panelUrl) + PANEL_PREFIX + FORGOTTEN_PATH;

  app.get(FORGOTTEN_PATH, FOR_ANYBODY, () => (sendsMail ? askingPage(action) : NO_MAIL_PAGE));

  const post = { ...FOR_ANYBODY, schema: { body: ForgottenForm } };
  app.post(FORGOTTEN_PATH, post, async request => {
    await limits.countSignIn(request);
    if (!sendsMail) return redirectTo(PANEL_PREFIX + FORGOTTEN_PATH);
    await askForLink(deps, request.body.email, visitOf(request).visitor.address);
    return redirectTo(PANEL_PREFIX + ASKED);
  });

  app.get(ASKED, FOR_ANYBODY, () => (sendsMail ? ASKED_PAGE : NO_MAIL_PAGE));
}

function askingPage(action: string): PanelPage {
  return {
    title: forgotten.title,
    lead: forgotten.lead,
    content: html`<form method="post" action="${action}" class="stack">
${renderField({ name: 'email', label: email, type: 'email', autocomplete: 'username' })}
<button>${forgotten.submit}</button>
</form>
<p class="quiet">${forgotten.otherFactor}</p>`,
  };
}

const ASKED_PAGE: PanelPage = {
  title: forgotten.asked.title,
  content: html`<p>${forgotten.asked.text}</p>
<p class="quiet">${forgotten.asked.nothing}</p>`,
};

const NO_MAIL_PAGE: PanelPage = {
  title: forgotten.title,
  content: html`<p>${forgotten.noMail}</p>
<p class="quiet">${forgotten.operator}</p>`,
};
