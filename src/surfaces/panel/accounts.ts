import { Type } from '@sinclair/typebox';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum } from '#schemas/scalars.ts';
import { listMemberships, type Membership } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../pages/html.ts';
import { FOR_PERSON, sessionOf } from './hooks/access.ts';
import type { PanelDependencies } from './hooks/dependencies.ts';
import { texts } from './hooks/language.ts';
import { PANEL_PREFIX } from './kit/assets.ts';
import { renderAccountTags } from './kit/environment.ts';
import { accountPath, accountSections, type MenuText } from './kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from './kit/pages.ts';

/** Settings that pages outside of an account link to, with their names in its menu. */
const LINKED = {
  business: 'business',
  branches: 'branches',
  addresses: 'addresses',
  domains: 'domains',
  team: 'team',
  appearance: 'appearance',
  keys: 'keys',
  webhooks: 'webhooks',
  'self-service': 'selfService',
} as const satisfies Record<string, MenuText>;

/** A setting that `/panel/go/SETTING` leads to. */
export type LinkedSetting = keyof typeof LINKED;

/** Path of the page that leads to a setting. */
export function settingLink(setting: LinkedSetting): string {
  return `${PANEL_PREFIX}/go/${setting}`;
}

const SETTINGS = Object.keys(LINKED) as LinkedSetting[];
const params = Type.Object({ setting: StringEnum(SETTINGS, 'What to set.') });

/** An account to choose, and the page that this leads to, without the base path. */
interface Choice {
  readonly account: Membership;
  readonly path: string;
}

/** Leads a person to their only account, or to a setting of the only one that has it, or lists several. */
export function registerAccounts(app: TypedApp, { db }: PanelDependencies): void {
  app.get('/', FOR_PERSON, async request => {
    const words = texts(request);
    const { choice, roles } = words.shell;
    const accounts = await listMemberships(db, sessionOf(request).person.id);
    const choices = accounts.map(account => ({ account, path: accountPath(account) }));
    return leadTo(
      choices,
      choice,
      ({ account, path }) => html`<li><div>
<a href="${request.basePath}${path}">${account.name}</a>${renderAccountTags(words, account)}<br>
<span class="quiet">${choice.role(choice.kinds[account.kind], roles[account.role])}</span>
</div></li>`,
    );
  });

  app.get('/go/:setting', { ...FOR_PERSON, schema: { params } }, async request => {
    const words = texts(request);
    const name = LINKED[request.params.setting];
    const accounts = await listMemberships(db, sessionOf(request).person.id);
    const choices = accounts.flatMap(account => {
      const links = accountSections(words, account).flatMap(section => section.links);
      return links.filter(link => link.name === name).map(({ href }) => ({ account, path: href }));
    });
    return leadTo(
      choices,
      words.settings.go,
      ({ account, path }) =>
        html`<li><div><a href="${request.basePath}${path}">${account.name}</a>${renderAccountTags(words, account)}</div></li>`,
    );
  });
}

function leadTo(
  choices: readonly Choice[],
  { title, none }: { readonly title: string; readonly none: string },
  render: (choice: Choice) => Html,
): PageOrRedirect {
  const [only, second] = choices;
  if (only === undefined) return { title, content: html`<p>${none}</p>` };
  if (second === undefined) return redirectTo(only.path);
  return { title, content: html`<ul class="rows cards">${choices.map(render)}</ul>` };
}
