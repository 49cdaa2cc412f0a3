import type { CheckedAddress, Delay } from '#accounts/address-changes.ts';
import type { AddressVerb } from '#accounts/deposit-addresses.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { DatedAddress } from '#storage/repositories/accounts/deposit-addresses.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderButton, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { inGroups } from '../kit/groups.ts';
import { renderTable } from '../kit/table.ts';
import { texts } from '../texts/index.ts';
import { renderComparison } from './change-views.ts';
import { renderDelay } from './delay.ts';

const { addresses: words, secondAdmin } = texts.settings;

/** Branches that the page of addresses links to. */
const BRANCHES_SHOWN = 20;
/** Addresses shown for a network in the list of networks: all addresses of 24 networks would make the page long. */
const ADDRESSES_SHOWN = 3;

/** What the pages of addresses have in common. */
interface AddressFrame {
  /** Address of the list, with the base path. */
  readonly url: string;
  readonly branch: Branch;
  readonly mayChange: boolean;
  readonly isDemo: boolean;
  /** Whether payments are collected by a processor, and need no address. */
  readonly isUs: boolean;
  /** The changes that wait. */
  readonly waiting: Html | null;
}

/** Several networks have the same name; what is paid on them differs. */
function nameOf({ name, asset_symbol: asset }: Network): string {
  return texts.changes.network(name, asset);
}

/** A page's query, which keeps the branch unless it is the main one. */
function queryOf({ id, is_main }: Branch): string {
  return is_main ? '' : `?branch=${id}`;
}

export function networkUrl({ url, branch }: Pick<AddressFrame, 'url' | 'branch'>, network: string) {
  return `${url}/${network}${queryOf(branch)}`;
}

interface ListParts extends AddressFrame {
  readonly branches: readonly Branch[];
  readonly networks: readonly Network[];
  readonly addresses: readonly DatedAddress[];
  /** Whether the merchant is a test merchant, which has no addresses on main networks. */
  readonly isTest: boolean;
  readonly needsSecondAdmin: boolean;
  /** Address of the settings, with the base path. */
  readonly settingsUrl: string;
}

export function addressesPage(parts: ListParts): PanelPage {
  const { branch, branches, networks, addresses, isTest, isUs, waiting } = parts;
  const environments = isTest ? (['test'] as const) : (['production', 'test'] as const);
  const tables = environments.map(environment => {
    const own = networks.filter(network => network.environment === environment);
    return own.length > 0 && renderNetworks(words.environments[environment], own, parts);
  });
  return {
    title: words.title,
    lead: words.lead(branch.name),
    content: html`${waiting}
${isTest && html`<p>${words.testOnly}</p>`}
${
  isUs
    ? html`<p class="notice">${words.usAccount}</p>`
    : addresses.length === 0 && html`<p class="notice">${words.none}</p>`
}
${branches.length > 1 && renderBranches(parts)}
${tables}
${renderSecondAdmin(parts)}`,
  };
}

/** Links to the other branches, or to the list of them where they are many. */
function renderBranches({ branch, branches, url, settingsUrl }: ListParts): Html {
  const shown = branches.filter((each, index) => index < BRANCHES_SHOWN || each.id === branch.id);
  const all = html`<a href="${settingsUrl}/branches">${words.allBranches}</a>`;
  return html`<nav class="buttons" aria-label="${words.otherBranches}">${shown.map(each =>
    each.id === branch.id
      ? html`<strong aria-current="page">${each.name}</strong> `
      : html`<a href="${url}${queryOf(each)}">${each.name}</a> `,
  )}${shown.length < branches.length && all}</nav>`;
}

function renderNetworks(title: string, networks: readonly Network[], frame: ListParts): Html {
  const of = ({ id }: Network) => frame.addresses.filter(({ blockchainId }) => blockchainId === id);
  return html`<h2>${title}</h2>
${renderTable<Network>(
  title,
  [
    {
      title: words.network,
      cell: network => html`<a href="${networkUrl(frame, network.id)}">${nameOf(network)}</a>`,
    },
    {
      title: words.address,
      cell: network => {
        const own = of(network);
        if (own.length === 0) return html`<span class="quiet">${words.noneSet}</span>`;
        const shown = own.slice(0, ADDRESSES_SHOWN);
        const others = own.length - shown.length;
        const more = html`<div><a href="${networkUrl(frame, network.id)}">${words.moreAddresses(others)}</a></div>`;
        return html`${shown.map(({ address }) => html`<div>${inGroups(address)}</div>`)}${others > 0 && more}`;
      },
    },
    {
      title: words.setAt,
      cell: network =>
        html`${of(network)
          .slice(0, ADDRESSES_SHOWN)
          .map(({ setAt }) => html`<div>${dateTime(texts, setAt)}</div>`)}`,
      secondary: true,
    },
    {
      title: words.state,
      cell: ({ is_active }) =>
        is_active
          ? html`<span class="tag good">${words.active}</span>`
          : html`<span class="tag">${words.inactive}</span>`,
      secondary: true,
    },
  ],
  networks,
)}`;
}

function renderSecondAdmin({ needsSecondAdmin, mayChange, settingsUrl }: ListParts): Html {
  return html`<section aria-labelledby="second-admin"><h2 id="second-admin">${secondAdmin.title}</h2>
<p>${needsSecondAdmin ? secondAdmin.on : secondAdmin.off}</p>
${
  mayChange &&
  (needsSecondAdmin
    ? html`<p><a href="${settingsUrl}/second-admin/relax">${secondAdmin.relax}</a></p>`
    : renderButton(`${settingsUrl}/second-admin`, secondAdmin.require, 'plain'))
}</section>`;
}

export interface NetworkParts extends AddressFrame {
  readonly network: Network;
  readonly addresses: readonly DatedAddress[];
  /** Whether a change of these addresses waits: then there is no form for another. */
  readonly isWaiting: boolean;
  readonly fault: FormFault | null;
  /** What the form is shown again with. */
  readonly typed: { readonly address?: string; readonly kind?: string };
}

export function networkPage(parts: NetworkParts): PanelPage {
  const { url, network, branch, addresses, isUs, waiting, isWaiting, mayChange, fault } = parts;
  const { typed } = parts;
  const action = `${url}/${network.id}`;
  return {
    title: words.onNetwork(nameOf(network)),
    lead: words.ofBranch(branch.name),
    fault,
    content: html`${waiting}
${!network.is_active && html`<p class="notice">${words.isOff}</p>`}
${
  addresses.length === 0
    ? html`<p>${isUs ? words.usAccount : words.noneHere}</p>`
    : html`${waiting !== null && html`<h2>${words.inForce}</h2>`}<ul class="rows">${addresses.map(
        ({ address, setAt }) =>
          html`<li><div>${inGroups(address)}<br><span class="quiet">${words.setAt} ${dateTime(texts, setAt)}</span></div>
${
  mayChange &&
  html`<form method="post" action="${action}/remove"><input type="hidden" name="branch" value="${branch.id}"><input type="hidden" name="address" value="${address}"><button class="plain">${words.remove}<span class="visually-hidden"> ${address}</span></button></form>`
}</li>`,
      )}</ul>${mayChange && html`<p class="quiet">${words.removeHint}</p>`}`
}
${
  mayChange &&
  !isWaiting &&
  html`<section aria-labelledby="new"><h2 id="new">${words.change}</h2>
<form method="post" action="${action}/review" class="stack">
<input type="hidden" name="branch" value="${branch.id}">
${renderField({ name: 'address', label: words.newAddress, hint: words.newAddressHint, value: typed.address, autocomplete: 'off', maxlength: 200 }, fault)}
${
  addresses.length === 0
    ? html`<input type="hidden" name="kind" value="address.set">`
    : renderSelect('kind', words.how, Object.entries(words.hows), typed.kind)
}
<button>${words.compare}</button>
</form></section>`
}
<p><a href="${url}${queryOf(branch)}">${words.title}</a></p>`,
  };
}

interface ReviewParts extends AddressFrame {
  readonly network: Network;
  readonly kind: AddressVerb;
  readonly checked: CheckedAddress;
  readonly delay: Delay;
  readonly fault: FormFault | null;
}

/** The new address beside the present one, and the form that proposes it with a code. */
export function reviewPage(parts: ReviewParts): PanelPage {
  const { url, network, branch, kind, checked, delay, isDemo, fault } = parts;
  const { address, present } = checked;
  const comparison = { kind, former: present, address, branchName: branch.name };
  return {
    title: words.reviewTitle(nameOf(network)),
    lead: words.reviewLead,
    fault,
    content: html`${renderComparison(comparison, () => branch.name)}
<p>${renderDelay(delay)}</p>
<form method="post" action="${url}/${network.id}/propose" class="stack">
<input type="hidden" name="branch" value="${branch.id}"><input type="hidden" name="kind" value="${kind}">
<input type="hidden" name="address" value="${address}">${present.map(
      seen => html`<input type="hidden" name="seen" value="${seen}">`,
    )}
${renderFactor(texts, isDemo, fault)}
<button>${delay.waitsMs === 0 && !delay.needsApproval ? texts.changes.setNow : texts.changes.propose}</button>
</form>
<p><a href="${networkUrl(parts, network.id)}">${words.back}</a></p>`,
  };
}
