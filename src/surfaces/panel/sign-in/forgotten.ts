import { Type } from '@sinclair/typebox';
import { askForLink } from '#accounts/people/forgotten-password.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { html } from '../../pages/html.ts';
import { FOR_ANYBODY, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderField } from '../kit/form.ts';
import { redirectTo } from '../kit/pages.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** Below the panel. */
export const FORGOTTEN_PATH = '/forgotten-password';
const ASKED = `${FORGOTTEN_PATH}/asked`;
const ForgottenForm = Type.Object({ email: Type.String() });

/**
 * Requests a link for a new password. The response is the same whether or not anybody has the e-mail that was typed.
 */
export function registerForgotten(app: TypedApp, deps: PanelDependencies): void {
  const { limits, sendsMail } = deps;

  app.get(FORGOTTEN_PATH, FOR_ANYBODY, request => {
    const words = texts(request);
    return sendsMail
      ? askingPage(words, request.basePath + PANEL_PREFIX + FORGOTTEN_PATH)
      : noMailPage(words);
  });

  const post = { ...FOR_ANYBODY, schema: { body: ForgottenForm } };
  app.post(FORGOTTEN_PATH, post, async request => {
    await limits.countSignIn(request);
    if (!sendsMail) return redirectTo(PANEL_PREFIX + FORGOTTEN_PATH);
    await askForLink(deps, request.body.email, visitOf(request).visitor.address);
    return redirectTo(PANEL_PREFIX + ASKED);
  });

  app.get(ASKED, FOR_ANYBODY, request => {
    const words = texts(request);
    return sendsMail ? askedPage(words) : noMailPage(words);
  });
}

function askingPage({ signIn: { email, forgotten } }: PanelTexts, action: string): PanelPage {
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

function askedPage({ signIn: { forgotten } }: PanelTexts): PanelPage {
  const { title, text, nothing } = forgotten.asked;
  return {
    title,
    content: html`<p>${text}</p>
<p class="quiet">${nothing}</p>`,
  };
}

function noMailPage({ signIn: { forgotten } }: PanelTexts): PanelPage {
  const { title, noMail, operator } = forgotten;
  return {
    title,
    content: html`<p>${noMail}</p>
<p class="quiet">${operator}</p>`,
  };
}
