import type { CheckedAddress, Delay } from '#accounts/address-changes.ts';
import type { AddressVerb } from '#accounts/deposit-addresses.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { DatedAddress } from '#storage/repositories/accounts/deposit-addresses.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { inGroups } from '../kit/groups.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { renderComparison } from './change-views.ts';
import { isAtOnce, renderDelay } from './delay.ts';
import { networkName, renderNetwork } from './network-name.ts';

/** What the pages of addresses have in common. */
export interface AddressFrame {
  /** Address of the list, with the base path. */
  readonly url: string;
  /** Address of the settings, with the base path. */
  readonly settingsUrl: string;
  readonly branch: Branch;
  readonly mayChange: boolean;
  readonly isDemo: boolean;
  /** Whether payments are collected by a processor, and need no address. */
  readonly isUs: boolean;
  /** The changes that wait. */
  readonly waiting: Html | null;
}

/** A page's query, which keeps the branch unless it is the main one. */
export function queryOf({ id, is_main }: Branch): string {
  return is_main ? '' : `?branch=${id}`;
}

export function networkUrl({ url, branch }: Pick<AddressFrame, 'url' | 'branch'>, network: string) {
  return `${url}/${network}${queryOf(branch)}`;
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

export function networkPage(words: PanelTexts, parts: NetworkParts): PanelPage {
  const { url, network, branch, addresses, isUs, waiting, isWaiting, mayChange, fault } = parts;
  const { typed } = parts;
  const own = words.settings.addresses;
  const action = `${url}/${network.id}`;
  return {
    title: own.onNetwork(networkName(words, network)),
    lead: own.ofBranch(branch.name),
    fault,
    content: html`${waiting}
${!network.is_active && html`<p class="notice">${own.isOff}</p>`}
${
  addresses.length === 0
    ? html`<p>${isUs ? own.usAccount : own.noneHere}</p>`
    : html`${waiting !== null && html`<h2>${own.inForce}</h2>`}<ul class="rows">${addresses.map(
        ({ address, setAt }) =>
          html`<li><div>${inGroups(address)}<br><span class="quiet">${own.setAt} ${dateTime(words, setAt)}</span></div>
${
  mayChange &&
  html`<form method="post" action="${action}/remove"><input type="hidden" name="branch" value="${branch.id}"><input type="hidden" name="address" value="${address}"><button class="plain">${own.remove}<span class="visually-hidden"> ${address}</span></button></form>`
}</li>`,
      )}</ul>`
}
${
  mayChange &&
  !isWaiting &&
  html`<section aria-labelledby="new"><h2 id="new">${own.change}</h2>
<form method="post" action="${action}/review" class="stack">
<input type="hidden" name="branch" value="${branch.id}">
${renderField({ name: 'address', label: own.newAddress, hint: own.newAddressHint, value: typed.address, autocomplete: 'off', maxlength: 200 }, fault)}
${
  addresses.length === 0
    ? html`<input type="hidden" name="kind" value="address.set">`
    : renderSelect('kind', own.how, Object.entries(own.hows), typed.kind)
}
<button>${own.compare}</button>
</form></section>`
}
<p><a href="${url}${queryOf(branch)}">${own.title}</a></p>`,
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
export function reviewPage(words: PanelTexts, parts: ReviewParts): PanelPage {
  const { url, network, branch, kind, checked, delay, isDemo, fault } = parts;
  const { address, present } = checked;
  const comparison = { kind, former: present, address, branchName: branch.name };
  const { addresses: own } = words.settings;
  const { propose, setNow } = words.changes;
  return {
    title: own.reviewTitle(networkName(words, network)),
    lead: own.reviewLead,
    fault,
    content: html`${renderComparison(words, comparison, [])}
<p>${renderDelay(words, delay)}</p>
<form method="post" action="${url}/${network.id}/propose" class="stack">
<input type="hidden" name="branch" value="${branch.id}"><input type="hidden" name="kind" value="${kind}">
<input type="hidden" name="address" value="${address}">${present.map(
      seen => html`<input type="hidden" name="seen" value="${seen}">`,
    )}
${renderFactor(words, isDemo, fault)}
<button>${isAtOnce(delay) ? setNow : propose}</button>
</form>
<p><a href="${networkUrl(parts, network.id)}">${own.back}</a></p>`,
  };
}

interface RemovalParts {
  readonly network: Network;
  readonly branch: Branch;
  readonly address: string;
  /** Whether payments need it, since the branch has no other address on the network. */
  readonly isLast: boolean;
  /** Whether a change of these addresses waits. */
  readonly isWaiting: boolean;
}

/** What removing an address does. */
export function renderRemoval(words: PanelTexts, parts: RemovalParts): Html {
  const { network, branch, address, isLast, isWaiting } = parts;
  const { removal, ofBranch } = words.settings.addresses;
  return html`<p>${renderNetwork(words, network)}. ${ofBranch(branch.name)}.</p>
<p>${inGroups(address)}</p>
${isLast && html`<p class="notice">${removal.isLast(branch.name)}</p>`}
${isWaiting && html`<p>${removal.lapses}</p>`}
<p>${words.changes.openPayments}</p>`;
}
