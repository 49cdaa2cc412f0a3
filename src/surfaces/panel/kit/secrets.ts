import type { FastifyRequest } from 'fastify';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { untilHeard } from '#storage/database/change-feed.ts';
import { transact } from '#storage/database/transaction.ts';
import { useIntent } from '#storage/repositories/people/panel-intents.ts';
import { type Html, html } from '../../pages/html.ts';
import { operatorOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { renderCopyButton } from './copy.ts';
import type { PanelPage } from './document.ts';

/**
 * Makes a secret, once for each form, in the transaction that records the form's ID.
 * @param intent ID of the form.
 * @returns undefined if the form was sent before.
 * @throws ApiError E9001 for too many secrets of an account; and what `make` throws.
 */
export async function issueOnce<T>(
  request: FastifyRequest,
  deps: PanelDependencies,
  intent: string,
  make: (operator: Operator) => Promise<T>,
): Promise<T | undefined> {
  const { db } = deps;
  const issued = await deps.limits.countSecret(request, () =>
    transact(db, tx => makeOnce(request, { ...operatorOf(request, deps), db: tx }, intent, make)),
  );
  await untilHeard(db);
  return issued;
}

/**
 * Makes something, once for each form, in the operator's transaction.
 * @param intent ID of the form.
 * @returns undefined if the form was sent before.
 * @throws What `make` throws.
 */
export async function makeOnce<T>(
  request: FastifyRequest,
  operator: Operator,
  intent: string,
  make: (operator: Operator) => Promise<T>,
): Promise<T | undefined> {
  const { clock, db } = operator;
  const { id: personId } = sessionOf(request).person;
  const row = { id: intent, person_id: personId, created_at: new Date(clock()) };
  return (await useIntent(db, row)) ? make(operator) : undefined;
}

/** A value that is shown once, with a button that copies it. */
export function renderSecret(words: PanelTexts, id: string, title: string, value: string): Html {
  return html`<h2>${title}</h2><div class="secret"><pre><code id="${id}">${value}</code></pre>
${renderCopyButton(words, id)}</div>`;
}

/** The page for a form that was sent before: its secret exists, and cannot be shown again. */
export function alreadyDonePage(
  { title, text }: { readonly title: string; readonly text: string },
  back: { readonly url: string; readonly text: string },
): PanelPage {
  return {
    title,
    content: html`<p>${text}</p>
<p><a class="button" href="${back.url}">${back.text}</a></p>`,
    status: 409,
  };
}
