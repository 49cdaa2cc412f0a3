import type { Branch } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { DatedAddress } from '#storage/repositories/accounts/deposit-addresses.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { renderButton } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { inGroups } from '../kit/groups.ts';
import { renderTable } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { type AddressFrame, networkUrl, queryOf } from './address-views.ts';
import { networkName } from './network-name.ts';

/** Branches that the page of addresses links to. */
const BRANCHES_SHOWN = 20;
/** Addresses shown for a network in the list of networks: all addresses of 24 networks would make the page long. */
const ADDRESSES_SHOWN = 3;

interface ListParts extends AddressFrame {
  readonly branches: readonly Branch[];
  readonly networks: readonly Network[];
  readonly addresses: readonly DatedAddress[];
  /** Whether the merchant is a test merchant, which has no addresses on main networks. */
  readonly isTest: boolean;
  readonly needsSecondAdmin: boolean;
}

export function addressesPage(words: PanelTexts, parts: ListParts): PanelPage {
  const { branch, branches, networks, addresses, isTest, isUs, waiting } = parts;
  const own = words.settings.addresses;
  const environments = isTest ? (['test'] as const) : (['production', 'test'] as const);
  const tables = environments.map(environment => {
    const shown = networks.filter(network => network.environment === environment);
    return shown.length > 0 && renderNetworks(words, own.environments[environment], shown, parts);
  });
  return {
    title: own.title,
    lead: isUs ? own.usAccount : own.lead(branch.name),
    content: html`${waiting}
${isTest && html`<p>${own.testOnly}</p>`}
${!isUs && addresses.length === 0 && html`<p class="notice">${own.none}</p>`}
${branches.length > 1 && renderBranches(words, parts)}
${tables}
${renderSecondAdmin(words, parts)}`,
  };
}

/** Links to the other branches, or to the list of them where they are many. */
function renderBranches(
  { settings: { addresses: own } }: PanelTexts,
  { branch, branches, url, settingsUrl }: ListParts,
): Html {
  const shown = branches.filter((each, index) => index < BRANCHES_SHOWN || each.id === branch.id);
  const all = html`<a href="${settingsUrl}/branches">${own.allBranches}</a>`;
  return html`<nav class="buttons" aria-label="${own.otherBranches}">${shown.map(each =>
    each.id === branch.id
      ? html`<strong aria-current="page">${each.name}</strong> `
      : html`<a href="${url}${queryOf(each)}">${each.name}</a> `,
  )}${shown.length < branches.length && all}</nav>`;
}

function renderNetworks(
  words: PanelTexts,
  title: string,
  networks: readonly Network[],
  frame: ListParts,
): Html {
  const own = words.settings.addresses;
  const of = ({ id }: Network) => frame.addresses.filter(({ blockchainId }) => blockchainId === id);
  return html`<h2>${title}</h2>
${renderTable<Network>(
  title,
  [
    {
      title: own.network,
      cell: network =>
        html`<a href="${networkUrl(frame, network.id)}">${networkName(words, network)}</a>`,
    },
    {
      title: own.address,
      cell: network => {
        const all = of(network);
        if (all.length === 0) return html`<span class="quiet">${own.noneSet}</span>`;
        const shown = all.slice(0, ADDRESSES_SHOWN);
        const others = all.length - shown.length;
        const more = html`<div><a href="${networkUrl(frame, network.id)}">${own.moreAddresses(others)}</a></div>`;
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
  { needsSecondAdmin, mayChange, settingsUrl }: ListParts,
): Html {
  return html`<section aria-labelledby="second-admin"><h2 id="second-admin">${secondAdmin.title}</h2>
<p>${needsSecondAdmin ? secondAdmin.on : secondAdmin.off}</p>
${
  mayChange &&
  (needsSecondAdmin
    ? html`<p><a href="${settingsUrl}/second-admin/relax">${secondAdmin.relax}</a></p>`
    : renderButton(`${settingsUrl}/second-admin`, secondAdmin.require, 'plain'))
}</section>`;
}
