import type { FastifyInstance } from 'fastify';
import { listMemberships } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../pages/base-path.ts';
import { html } from '../pages/html.ts';
import { FOR_PERSON, sessionOf } from './hooks/access.ts';
import type { PanelDependencies } from './hooks/dependencies.ts';
import { texts } from './hooks/language.ts';
import { renderAccountTags } from './kit/environment.ts';
import { accountPath } from './kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from './kit/pages.ts';

/** Redirects a person to their only account, or lists several. */
export function registerAccounts(app: FastifyInstance, deps: PanelDependencies): void {
  const { db, panelUrl } = deps;
  app.get('/', FOR_PERSON, async (request): Promise<PageOrRedirect> => {
    const accounts = await listMemberships(db, sessionOf(request).person.id);
    const [only, second] = accounts;
    if (only !== undefined && second === undefined) return redirectTo(accountPath(only));
    const words = texts(request);
    const { choice, roles } = words.shell;
    const content =
      only === undefined
        ? html`<p>${choice.none}</p>`
        : html`<ul class="rows cards">${accounts.map(
            account => html`<li><div>
<a href="${basePathOf(panelUrl)}${accountPath(account)}">${account.name}</a>${renderAccountTags(words, account)}<br>
<span class="quiet">${choice.role(choice.kinds[account.kind], roles[account.role])}</span>
</div></li>`,
          )}</ul>`;
    return { title: choice.title, content };
  });
}
