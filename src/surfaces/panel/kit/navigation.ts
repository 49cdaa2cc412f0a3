import type { FastifyRequest } from 'fastify';
import { isAllowed, type Permission } from '#accounts/access/permissions.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { PANEL_PREFIX } from './assets.ts';
import { PLACES } from './places.ts';

/** The name of a page in the menu. */
export type MenuText = keyof PanelTexts['shell']['menu'];

interface Entry {
  readonly path: string;
  readonly name: MenuText;
  readonly permission: Permission;
}

/** A part of the menu; the first one has no heading. */
interface Section {
  readonly heading: MenuText | null;
  readonly entries: readonly Entry[];
}

/** Pages of an account, below its path, in the order of the menu. */
const SECTIONS: Readonly<Record<Membership['kind'], readonly Section[]>> = {
  merchant: [
    {
      heading: null,
      entries: [
        { path: '', name: 'home', permission: 'home.read' },
        { path: '/payments', name: 'payments', permission: 'payments.read' },
        { path: '/unmatched', name: 'unmatched', permission: 'deposits.read' },
      ],
    },
    {
      heading: 'settings',
      entries: [
        { path: '/settings/business', name: 'business', permission: 'settings.read' },
        { path: '/settings/branches', name: 'branches', permission: 'settings.read' },
        { path: '/settings/addresses', name: 'addresses', permission: 'settings.read' },
        { path: '/settings/domains', name: 'domains', permission: 'settings.read' },
        { path: '/settings/appearance', name: 'appearance', permission: 'settings.read' },
        { path: PLACES.merchant.team, name: 'team', permission: 'team.read' },
        { path: PLACES.merchant.activity, name: 'activity', permission: 'activity.read' },
      ],
    },
    {
      heading: 'developer',
      entries: developerEntries('merchant'),
    },
  ],
  partner: [
    {
      heading: null,
      entries: [
        { path: '', name: 'overview', permission: 'overview.read' },
        { path: '/merchants', name: 'merchants', permission: 'merchants.read' },
        { path: '/payments', name: 'payments', permission: 'payments.read' },
        { path: '/commission', name: 'commission', permission: 'commission.read' },
      ],
    },
    {
      heading: 'settings',
      entries: [
        { path: PLACES.partner.team, name: 'team', permission: 'team.read' },
        { path: '/settings', name: 'selfService', permission: 'self-service.read' },
        { path: PLACES.partner.activity, name: 'activity', permission: 'activity.read' },
      ],
    },
    {
      heading: 'developer',
      entries: developerEntries('partner'),
    },
  ],
};

function developerEntries(kind: Membership['kind']): Entry[] {
  const path = PLACES[kind].developer;
  const webhooks: Entry = {
    path: `${path}/webhooks`,
    name: 'webhooks',
    permission: 'webhooks.read',
  };
  return [
    { path: `${path}/keys`, name: 'keys', permission: 'keys.read' },
    ...(kind === 'merchant' ? [webhooks] : []),
    { path: `${path}/requests`, name: 'requests', permission: 'requests.read' },
    { path: `${path}/explain`, name: 'explain', permission: 'signatures.explain' },
  ];
}

/** Path of an account's first page, without the base path. */
export function accountPath({ kind, accountId }: Pick<Membership, 'kind' | 'accountId'>): string {
  return `${PANEL_PREFIX}/${kind}s/${accountId}`;
}

/** Path of a page of the account that a request names, without the base path. */
export function ownPath(request: FastifyRequest, place = ''): string {
  return accountPath(membershipOf(request)) + place;
}

/** The same with the base path, for links and forms. */
export function ownUrl(request: FastifyRequest, place = ''): string {
  return request.basePath + ownPath(request, place);
}

/** The menu of an account: its sections, with the pages that a role may see. */
export function accountSections({ shell: { menu } }: PanelTexts, membership: Membership) {
  return SECTIONS[membership.kind]
    .map(({ heading, entries }) => ({
      title: heading && menu[heading],
      links: entries
        .filter(({ permission }) => isAllowed(membership.role, permission))
        .map(({ path, name }) => ({
          name,
          href: accountPath(membership) + path,
          text: menu[name],
        })),
    }))
    .filter(({ links }) => links.length > 0);
}
