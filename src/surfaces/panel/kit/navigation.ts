import { isAllowed, type Permission } from '#accounts/access/permissions.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { texts } from '../texts/index.ts';
import { PANEL_PREFIX } from './assets.ts';
import { PLACES } from './places.ts';

export interface PanelLink {
  readonly href: string;
  readonly text: string;
}

/** A part of the menu. */
export interface PanelSection {
  /** null for the first section, which has no title. */
  readonly title: string | null;
  readonly links: readonly PanelLink[];
}

interface Entry {
  readonly path: string;
  readonly text: string;
  readonly permission: Permission;
}

interface Section {
  readonly title: string | null;
  readonly entries: readonly Entry[];
}

const { menu } = texts.shell;

/** Pages of an account, below its path, in the order of the menu. */
const SECTIONS: Readonly<Record<Membership['kind'], readonly Section[]>> = {
  merchant: [
    {
      title: null,
      entries: [
        { path: '', text: menu.home, permission: 'home.read' },
        { path: '/payments', text: menu.payments, permission: 'payments.read' },
        { path: '/unmatched', text: menu.unmatched, permission: 'deposits.read' },
      ],
    },
    {
      title: menu.settings,
      entries: [
        { path: '/settings/business', text: menu.business, permission: 'settings.read' },
        { path: '/settings/branches', text: menu.branches, permission: 'settings.read' },
        { path: '/settings/addresses', text: menu.addresses, permission: 'settings.read' },
        { path: '/settings/domains', text: menu.domains, permission: 'settings.read' },
        { path: '/settings/appearance', text: menu.appearance, permission: 'settings.read' },
        { path: PLACES.merchant.team, text: menu.team, permission: 'team.read' },
        { path: PLACES.merchant.activity, text: menu.activity, permission: 'activity.read' },
      ],
    },
    {
      title: menu.developer,
      entries: developerEntries('merchant'),
    },
  ],
  partner: [
    {
      title: null,
      entries: [
        { path: '', text: menu.overview, permission: 'overview.read' },
        { path: '/merchants', text: menu.merchants, permission: 'merchants.read' },
        { path: '/payments', text: menu.payments, permission: 'payments.read' },
        { path: '/commission', text: menu.commission, permission: 'commission.read' },
      ],
    },
    {
      title: menu.settings,
      entries: [
        { path: PLACES.partner.team, text: menu.team, permission: 'team.read' },
        { path: '/settings', text: menu.selfService, permission: 'self-service.read' },
        { path: PLACES.partner.activity, text: menu.activity, permission: 'activity.read' },
      ],
    },
    {
      title: menu.developer,
      entries: developerEntries('partner'),
    },
  ],
};

function developerEntries(kind: Membership['kind']): Entry[] {
  const path = PLACES[kind].developer;
  const webhooks: Entry = {
    path: `${path}/webhooks`,
    text: menu.webhooks,
    permission: 'webhooks.read',
  };
  return [
    { path: `${path}/keys`, text: menu.keys, permission: 'keys.read' },
    ...(kind === 'merchant' ? [webhooks] : []),
    { path: `${path}/requests`, text: menu.requests, permission: 'requests.read' },
    { path: `${path}/explain`, text: menu.explain, permission: 'signatures.explain' },
  ];
}

/** Path of an account's first page, without the base path. */
export function accountPath({ kind, accountId }: Pick<Membership, 'kind' | 'accountId'>): string {
  return `${PANEL_PREFIX}/${kind}s/${accountId}`;
}

/** The menu of an account: its sections, with the pages that a role may see. */
export function accountSections(membership: Membership): PanelSection[] {
  return SECTIONS[membership.kind]
    .map(({ title, entries }) => ({
      title,
      links: entries
        .filter(({ permission }) => isAllowed(membership.role, permission))
        .map(({ path, text }) => ({ href: accountPath(membership) + path, text })),
    }))
    .filter(({ links }) => links.length > 0);
}
