import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listOpenChanges } from '#storage/repositories/accounts/address-changes.ts';
import {
  type DatedAddress,
  listDatedAddresses,
} from '#storage/repositories/accounts/deposit-addresses.ts';
import { findMerchant, listBranches } from '#storage/repositories/accounts/merchants.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import { lateSince } from '#time/late-window.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { isTest, isUs } from '../kit/environment.ts';
import { renderButton } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { inGroups } from '../kit/groups.ts';
import { ownUrl } from '../kit/navigation.ts';
import { renderTable } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { chooseBranch, networkPlace, queryOf } from './address-pages.ts';
import { renderWaiting } from './change-views.ts';
import { networkName } from './network-name.ts';
import { renderWalletUse } from './wallet-views.ts';

/** Branches that the page of addresses links to. */
const BRANCHES_SHOWN = 20;
/** Addresses shown for a network in the list of networks: all addresses of 24 networks would make the page long. */
const ADDRESSES_SHOWN = 3;

/** The addresses of a branch on all networks, and whether changes need a second admin. */
export async function addressesPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  branchId: string | undefined,
): Promise<PanelPage> {
  const { db, clock } = deps;
  const words = texts(request);
  const own = words.settings.addresses;
  const membership = membershipOf(request);
  const { accountId } = membership;
  const url = ownUrl(request, '/settings');
  const branches = await listBranches(db, accountId);
  if (branches.length === 0) {
    const content = html`<p><a href="${url}/branches">${words.settings.branches.title}</a></p>`;
    return { title: own.title, lead: own.noBranch, content };
  }
  const branch = chooseBranch(branches, branchId);
  const [open, networks, addresses, merchant] = await Promise.all([
    listOpenChanges(db, accountId),
    listNetworks(db),
    listDatedAddresses(db, branch.id, lateSince(clock())),
    findMerchant(db, accountId),
  ]);
  const urlOf = ({ id }: Network) => ownUrl(request, networkPlace(branch, id));
  const mayChange = isChangeAllowed(membership, 'money.change');
  const isOfUs = isUs(membership);
  // A test merchant has no addresses on main networks.
  const isOnlyTest = isTest(membership);
  const environments = isOnlyTest ? (['test'] as const) : (['production', 'test'] as const);
  const tables = environments.map(environment => {
    const shown = networks.filter(network => network.environment === environment);
    const title = own.environments[environment];
    return shown.length > 0 && renderNetworks(words, title, shown, addresses, urlOf);
  });
  return {
    title: own.title,
    lead: isOfUs ? own.usAccount : own.lead(branch.name),
    content: html`${renderWaiting(request, open)}
${isOnlyTest && html`<p>${own.testOnly}</p>`}
${!isOfUs && addresses.length === 0 && html`<p class="notice">${own.none}</p>`}
${branches.length > 1 && renderBranches(words, url, branches, branch)}
${tables}
${renderSecondAdmin(words, url, merchant?.needs_second_admin === true, mayChange)}`,
  };
}

/** Links to the other branches, or to the list of them where they are many. */
function renderBranches(
  { settings: { addresses: own } }: PanelTexts,
  url: string,
  branches: readonly Branch[],
  branch: Branch,
): Html {
  const shown = branches.filter((each, index) => index < BRANCHES_SHOWN || each.id === branch.id);
  const all = html`<a href="${url}/branches">${own.allBranches}</a>`;
  return html`<nav class="buttons" aria-label="${own.otherBranches}">${shown.map(each =>
    each.id === branch.id
      ? html`<strong aria-current="page">${each.name}</strong> `
      : html`<a href="${url}/addresses${queryOf(each)}">${each.name}</a> `,
  )}${shown.length < branches.length && all}</nav>`;
}

function renderNetworks(
  words: PanelTexts,
  title: string,
  networks: readonly Network[],
  addresses: readonly DatedAddress[],
  urlOf: (network: Network) => string,
): Html {
  const own = words.settings.addresses;
  const of = ({ id }: Network) => addresses.filter(({ blockchainId }) => blockchainId === id);
  return html`<h2>${title}</h2>
${renderTable<Network>(
  title,
  [
    {
      title: own.network,
      cell: network => html`<a href="${urlOf(network)}">${networkName(words, network)}</a>`,
    },
    {
      title: own.address,
      cell: network => {
        const all = of(network);
        const wallet = all[0]?.wallet ?? null;
        if (wallet !== null) {
          return renderWalletUse(words, wallet);
        }
        if (all.length === 0) return html`<span class="quiet">${own.noneSet}</span>`;
        const shown = all.slice(0, ADDRESSES_SHOWN);
        const others = all.length - shown.length;
        const more = html`<div><a href="${urlOf(network)}">${own.moreAddresses(others)}</a></div>`;
        return html`${shown.map(({ address }) => html`<div>${inGroups(address)}</div>`)}${others > 0 && more}`;
      },
    },
    {
      title: own.setAt,
      cell: network =>
        html`${of(network)
          .slice(0, ADDRESSES_SHOWN)
          .map(({ setAt }) => html`<div>${dateTime(words, setAt)}</div>`)}`,
      secondary: true,
    },
    {
      title: own.state,
      cell: ({ is_active }) =>
        is_active
          ? html`<span class="tag good">${own.active}</span>`
          : html`<span class="tag">${own.inactive}</span>`,
      secondary: true,
    },
  ],
  networks,
)}`;
}

function renderSecondAdmin(
  { settings: { secondAdmin } }: PanelTexts,
  url: string,
  needsSecondAdmin: boolean,
  mayChange: boolean,
): Html {
  return html`<section aria-labelledby="second-admin"><h2 id="second-admin">${secondAdmin.title}</h2>
<p>${needsSecondAdmin ? secondAdmin.on : secondAdmin.off}</p>
${
  mayChange &&
  (needsSecondAdmin
    ? html`<p><a href="${url}/second-admin/relax">${secondAdmin.relax}</a></p>`
    : renderButton(`${url}/second-admin`, secondAdmin.require, 'plain'))
}</section>`;
}
