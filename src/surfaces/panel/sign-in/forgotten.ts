import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
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

/** Below the panel. */
export const FORGOTTEN_PATH = '/forgotten-password';
const ASKED = `${FORGOTTEN_PATH}/asked`;
const ForgottenForm = Type.Object({ email: Type.String() });

/**
 * Requests a link for a new password. The response is the same whether or not anybody has the e-mail that was typed.
 */
export function registerForgotten(app: TypedApp, deps: PanelDependencies): void {
  const { limits, sendsMail } = deps;

  app.get(FORGOTTEN_PATH, FOR_ANYBODY, request =>
    sendsMail ? askingPage(request) : noMailPage(request),
  );

  const post = { ...FOR_ANYBODY, schema: { body: ForgottenForm } };
  app.post(FORGOTTEN_PATH, post, async request => {
    await limits.countSignIn(request);
    if (!sendsMail) return redirectTo(PANEL_PREFIX + FORGOTTEN_PATH);
    await askForLink(deps, request.body.email, visitOf(request).visitor.address);
    return redirectTo(PANEL_PREFIX + ASKED);
  });

  app.get(ASKED, FOR_ANYBODY, request => (sendsMail ? askedPage(request) : noMailPage(request)));
}

function askingPage(request: FastifyRequest): PanelPage {
  const { email, forgotten } = texts(request).signIn;
  return {
    title: forgotten.title,
    lead: forgotten.lead,
    content: html`<form method="post" action="${request.basePath}${PANEL_PREFIX}${FORGOTTEN_PATH}" class="stack">
${renderField({ name: 'email', label: email, type: 'email', autocomplete: 'username' })}
<button>${forgotten.submit}</button>
</form>
<p class="quiet">${forgotten.otherFactor}</p>`,
  };
}

function askedPage(request: FastifyRequest): PanelPage {
  const { title, text, nothing } = texts(request).signIn.forgotten.asked;
  return {
    title,
    content: html`<p>${text}</p>
<p class="quiet">${nothing}</p>`,
  };
}

function noMailPage(request: FastifyRequest): PanelPage {
  const { title, noMail, operator } = texts(request).signIn.forgotten;
  return {
    title,
    content: html`<p>${noMail}</p>
<p class="quiet">${operator}</p>`,
  };
}
