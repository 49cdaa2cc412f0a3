import { Type } from '@sinclair/typebox';
import { isAllowed, type Permission } from '#accounts/access/permissions.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum } from '#schemas/scalars.ts';
import { listMemberships, type Membership } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../pages/base-path.ts';
import { html } from '../pages/html.ts';
import { FOR_PERSON, sessionOf } from './hooks/access.ts';
import type { PanelDependencies } from './hooks/dependencies.ts';
import { texts } from './hooks/language.ts';
import { PANEL_PREFIX } from './kit/assets.ts';
import { renderAccountTags } from './kit/environment.ts';
import { accountPath } from './kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from './kit/pages.ts';
import { PLACES } from './kit/places.ts';

interface Place {
  /** Below an account's own path. */
  readonly path: string;
  readonly permission: Permission;
}

const setting = (name: string): Place => ({
  path: `/settings/${name}`,
  permission: 'settings.read',
});

/** Settings that pages outside of an account link to, with their place in each kind of account. */
const LINKED = {
  business: { merchant: setting('business') },
  branches: { merchant: setting('branches') },
  addresses: { merchant: setting('addresses') },
  domains: { merchant: setting('domains') },
  team: {
    merchant: { path: PLACES.merchant.team, permission: 'team.read' },
    partner: { path: PLACES.partner.team, permission: 'team.read' },
  },
  appearance: { merchant: setting('appearance') },
  keys: {
    merchant: { path: `${PLACES.merchant.developer}/keys`, permission: 'keys.read' },
    partner: { path: `${PLACES.partner.developer}/keys`, permission: 'keys.read' },
  },
  webhooks: {
    merchant: { path: `${PLACES.merchant.developer}/webhooks`, permission: 'webhooks.read' },
  },
  'self-service': { partner: { path: '/settings', permission: 'self-service.read' } },
} as const satisfies Record<string, Partial<Record<Membership['kind'], Place>>>;

/** A setting that `/panel/go/SETTING` leads to. */
export type LinkedSetting = keyof typeof LINKED;

/** Path of the page that leads to a setting. */
export function settingLink(setting: LinkedSetting): string {
  return `${PANEL_PREFIX}/go/${setting}`;
}

const SETTINGS = Object.keys(LINKED) as LinkedSetting[];
const params = Type.Object({ setting: StringEnum(SETTINGS, 'What to set.') });

/**
 * Redirects from outside to a setting of the person's only account that has it, or lists the accounts to choose from.
 */
export function registerSettingLinks(app: TypedApp, { db, panelUrl }: PanelDependencies): void {
  app.get(
    '/go/:setting',
    { ...FOR_PERSON, schema: { params } },
    async (request): Promise<PageOrRedirect> => {
      const places: Partial<Record<Membership['kind'], Place>> = LINKED[request.params.setting];
      const memberships = await listMemberships(db, sessionOf(request).person.id);
      const found = memberships.flatMap(account => {
        const place = places[account.kind];
        if (place === undefined || !isAllowed(account.role, place.permission)) return [];
        return [{ account, path: accountPath(account) + place.path }];
      });
      const [only, second] = found;
      if (only !== undefined && second === undefined) return redirectTo(only.path);
      const words = texts(request);
      const { title, none } = words.settings.go;
      const content =
        only === undefined
          ? html`<p>${none}</p>`
          : html`<ul class="rows cards">${found.map(
              ({ account, path }) =>
                html`<li><div><a href="${basePathOf(panelUrl)}${path}">${account.name}</a>${renderAccountTags(words, account)}</div></li>`,
            )}</ul>`;
      return { title, content };
    },
  );
}
