import type { AddressChange, Branch } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { NamedChange } from '#storage/repositories/accounts/address-changes.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderButton } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { inGroups } from '../kit/groups.ts';
import { renderFacts } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { renderLacking } from './lacking.ts';
import { renderNetwork } from './network-name.ts';

/** The present and the proposed value, side by side. */
interface Comparison {
  readonly kind: AddressChange['kind'];
  /** Addresses, or the ID of the main branch. */
  readonly former: readonly string[];
  readonly address: string | null;
  readonly branchName: string | null;
}

/**
 * @param branches The merchant's branches, for the names of main ones.
 * @param outcome How the change has ended; null while it is not made, or waits.
 */
export function renderComparison(
  { changes }: PanelTexts,
  { kind, former, address, branchName }: Comparison,
  branches: readonly Branch[],
  outcome: AddressChange['outcome'] = null,
): Html | null {
  if (kind === 'merchant.one-admin') return null;
  const isMain = kind === 'branch.main';
  const none = isMain ? changes.noMain : changes.noAddress;
  const nameOf = (id: string) => branches.find(branch => branch.id === id)?.name;
  const show = (value: string) =>
    isMain ? html`${nameOf(value) ?? html`<code>${value}</code>`}` : inGroups(value);
  const before = former.length === 0 ? [html`${none}`] : former.map(show);
  const added = isMain ? html`<strong>${branchName}</strong>` : inGroups(address ?? '');
  const after = kind === 'address.add' ? [...former.map(show), added] : [added];
  const list = (title: string, entries: readonly Html[]) =>
    html`<div><dt>${title}</dt>${entries.map(entry => html`<dd>${entry}</dd>`)}</div>`;
  const sides = changes.sides[outcome ?? 'waits'];
  return html`<dl class="compare">${list(sides.before, before)}${list(sides.after, after)}</dl>
${!isMain && outcome === null && html`<p class="quiet">${changes.openPayments}</p>`}`;
}

interface ChangeFrame {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly change: NamedChange;
  readonly branches: readonly Branch[];
  /** Networks on which a branch that is to become the main one lacks an address. */
  readonly lacking: readonly Network[];
  readonly viewer: {
    readonly personId: string;
    readonly isDemo: boolean;
    readonly mayChange: boolean;
  };
  readonly fault: FormFault | null;
}

/** A change in full: old, new, who, when; cancel and approve while it waits. */
export function changePage(words: PanelTexts, frame: ChangeFrame): PanelPage {
  const { change, branches, lacking, fault } = frame;
  const { kind, outcome, branch_name: branchName } = change;
  const { changes } = words;
  return {
    title: changes.kinds[kind],
    fault,
    content: html`${outcome !== null && html`<p class="notice">${changes.outcomes[outcome]}</p>`}
${renderComparison(words, { ...change, branchName }, branches, outcome)}
${renderLacking(words, branchName ?? '', lacking)}
${renderFacts([
  [changes.networkName, renderNetworkOf(words, change)],
  [changes.branch, kind === 'branch.main' ? null : branchName],
  [changes.proposedBy, proposerOf(change)],
  [changes.proposedAt, dateTime(words, change.proposed_at)],
  [changes.takesEffect, outcome === null ? renderWhen(words, change) : null],
  [changes.approvedBy, change.approved_by],
])}
${outcome === null && renderDecision(words, frame)}`,
  };
}

function renderNetworkOf(words: PanelTexts, change: NamedChange): Html | null {
  const { blockchain_id: id, network_name: name, asset: asset_symbol } = change;
  if (id === null || name === null || asset_symbol === null) return null;
  return renderNetwork(words, { id, name, asset_symbol });
}

function proposerOf({ proposer, proposed_by }: NamedChange): string {
  return proposer === null ? proposed_by : `${proposer} (${proposed_by})`;
}

/** When an open change takes effect. */
function renderWhen(words: PanelTexts, { needs_approval, effective_at }: AddressChange): Html {
  return needs_approval ? html`${words.changes.needsApproval}` : dateTime(words, effective_at);
}

function renderDecision(words: PanelTexts, { url, change, viewer, fault }: ChangeFrame): Html {
  const { personId, isDemo, mayChange } = viewer;
  const { changes } = words;
  if (!mayChange) return html`<p class="quiet">${changes.notYours}</p>`;
  const cancel = renderButton(`${url}/cancel`, changes.cancel, 'danger');
  if (change.person_id === personId) {
    return html`${cancel}<p class="quiet">${changes.ownChange}</p>`;
  }
  return html`${cancel}
<section aria-labelledby="approve"><h2 id="approve">${changes.approveTitle}</h2>
<form method="post" action="${url}/approve" class="stack">
<p>${changes.approveLead}</p>
${renderFactor(words, isDemo, fault)}
<button>${changes.approve}</button>
</form></section>`;
}

/** The changes that wait, each with its page and a button that cancels it. */
export function renderWaiting(
  words: PanelTexts,
  base: string,
  open: readonly NamedChange[],
  mayCancel: boolean,
): Html | null {
  if (open.length === 0) return null;
  const { changes } = words;
  return html`<section aria-labelledby="waiting"><h2 id="waiting">${changes.waiting}</h2>
<ul class="rows">${open.map(
    change =>
      html`<li><div><a href="${base}/${change.id}">${changes.kinds[change.kind]}</a>: ${change.branch_name}${change.network_name !== null && html`, ${renderNetworkOf(words, change)}`}<br>
${change.address !== null && html`${inGroups(change.address)}<br>`}
<span class="quiet">${changes.proposedBy} ${proposerOf(change)}. ${changes.takesEffect} ${renderWhen(words, change)}</span></div>
${mayCancel && renderButton(`${base}/${change.id}/cancel`, changes.cancel, 'danger')}</li>`,
  )}</ul></section>`;
}
