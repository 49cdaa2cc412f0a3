import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { changeName } from '#accounts/change-steps.ts';
import { viewWallet, type WalletView } from '#accounts/wallets.ts';
import { ApiError } from '#errors/api-error.ts';
import type { AddressChange, Branch } from '#storage/database/account-tables.ts';
import {
  findNamedChange,
  type NamedChange,
} from '#storage/repositories/accounts/address-changes.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderButton } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { inGroups } from '../kit/groups.ts';
import { ownUrl } from '../kit/navigation.ts';
import { renderFacts } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { readLacking, renderLacking } from './missing-addresses.ts';
import { renderNetwork } from './network-name.ts';
import { findWalletUse, renderWalletSide } from './wallet-views.ts';

/** The present and the proposed value, side by side. */
interface Comparison {
  readonly kind: AddressChange['kind'];
  /** Addresses, or the ID of the main branch. */
  readonly former: readonly string[];
  readonly address: string | null;
  readonly branchName: string | null;
  readonly wallets?: ComparedWallets;
}

/** The wallets of a comparison, which are shown in place of their addresses; null for static addresses. */
interface ComparedWallets {
  readonly before: WalletView | null;
  readonly after: WalletView | null;
}

const NO_WALLETS: ComparedWallets = { before: null, after: null };

/** The present wallet of a branch on a network, as it is compared with what is to replace it. */
export async function viewPresent(
  deps: Pick<PanelDependencies, 'db' | 'clock'>,
  branchId: string,
  blockchainId: string,
): Promise<WalletView | null> {
  const use = await findWalletUse(deps, branchId, blockchainId);
  return use && viewWallet(deps.db, use.id, use.nextIndex);
}

/**
 * @param branches The merchant's branches, for the names of main ones.
 * @param outcome How the change has ended; null while it is not made, or waits.
 */
export function renderComparison(
  words: PanelTexts,
  { kind, former, address, branchName, wallets = NO_WALLETS }: Comparison,
  branches: readonly Branch[],
  outcome: AddressChange['outcome'] = null,
): Html | null {
  if (kind === 'merchant.one-admin') return null;
  const { changes } = words;
  const isMain = kind === 'branch.main';
  const none = isMain ? changes.noMain : changes.noAddress;
  const nameOf = (id: string) => branches.find(branch => branch.id === id)?.name;
  const show = (value: string) =>
    isMain ? html`${nameOf(value) ?? html`<code>${value}</code>`}` : inGroups(value);
  const addresses = former.length === 0 ? [html`${none}`] : former.map(show);
  const before = wallets.before === null ? addresses : renderWalletSide(words, wallets.before);
  const added = isMain ? html`<strong>${branchName}</strong>` : inGroups(address ?? '');
  const alone = wallets.after === null ? [added] : renderWalletSide(words, wallets.after);
  const after = kind === 'address.add' ? [...former.map(show), added] : alone;
  const list = (title: string, entries: readonly Html[]) =>
    html`<div><dt>${title}</dt>${entries.map(entry => html`<dd>${entry}</dd>`)}</div>`;
  const sides = changes.sides[outcome ?? 'waits'];
  return html`<dl class="compare">${list(sides.before, before)}${list(sides.after, after)}</dl>
${!isMain && outcome === null && html`<p class="quiet">${changes.openPayments}</p>`}`;
}

export type ChangeRequest = FastifyRequest & { params: { readonly changeId: string } };

/** @throws ApiError E3001 for a change of another merchant. */
export async function requireChange(
  request: ChangeRequest,
  { db }: Pick<PanelDependencies, 'db'>,
): Promise<NamedChange> {
  const { accountId } = membershipOf(request);
  const change = await findNamedChange(db, accountId, request.params.changeId);
  if (change === undefined) throw new ApiError('E3001');
  return change;
}

/** A change in full: old, new, who, when; cancel and approve while it waits. */
export async function changePage(
  request: ChangeRequest,
  deps: PanelDependencies,
  fault: FormFault | null,
): Promise<PanelPage> {
  const { db } = deps;
  const words = texts(request);
  const { changes } = words;
  const membership = membershipOf(request);
  const [change, branches] = await Promise.all([
    requireChange(request, deps),
    listBranches(db, membership.accountId),
  ]);
  const { kind, outcome, branch_id: branchId, branch_name: branchName } = change;
  const wallets = await viewWallets(deps, change);
  const isMain = kind === 'branch.main' && outcome === null && branchId !== null;
  const lacking = isMain ? await readLacking(db, membership, branches, branchId) : [];
  return {
    title: changes.kinds[changeName(change)],
    fault,
    content: html`${outcome !== null && html`<p class="notice">${changes.outcomes[outcome]}</p>`}
${renderComparison(words, { ...change, branchName, wallets }, branches, outcome)}
${renderLacking(words, branchName ?? '', lacking)}
${renderFacts([
  [changes.networkName, renderNetworkOf(words, change)],
  [changes.branch, kind === 'branch.main' ? null : branchName],
  [changes.proposedBy, proposerOf(change)],
  [changes.proposedAt, dateTime(words, change.proposed_at)],
  [changes.takesEffect, outcome === null ? renderWhen(words, change) : null],
  [changes.approvedBy, change.approved_by],
])}
${outcome === null && renderDecision(request, change, fault)}`,
  };
}

/** What a change replaces is known as a wallet only while it waits. */
async function viewWallets(
  deps: Pick<PanelDependencies, 'db' | 'clock'>,
  change: NamedChange,
): Promise<ComparedWallets> {
  const { branch_id: branchId, blockchain_id: blockchainId, wallet_id: walletId } = change;
  const isOpen = change.outcome === null && branchId !== null && blockchainId !== null;
  const [before, after] = await Promise.all([
    isOpen ? viewPresent(deps, branchId, blockchainId) : null,
    walletId === null ? null : viewWallet(deps.db, walletId, change.address ?? ''),
  ]);
  return { before, after };
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

function renderDecision(
  request: FastifyRequest,
  change: NamedChange,
  fault: FormFault | null,
): Html {
  const { changes } = texts(request);
  const mayChange = isChangeAllowed(membershipOf(request), 'money.change');
  if (!mayChange) return html`<p class="quiet">${changes.notYours}</p>`;
  const url = ownUrl(request, `/settings/changes/${change.id}`);
  const cancel = renderButton(`${url}/cancel`, changes.cancel, 'danger');
  if (change.person_id === sessionOf(request).person.id) {
    return html`${cancel}<p class="quiet">${changes.ownChange}</p>`;
  }
  return html`${cancel}
<section aria-labelledby="approve"><h2 id="approve">${changes.approveTitle}</h2>
<form method="post" action="${url}/approve" class="stack">
<p>${changes.approveLead}</p>
${renderFactor(request, fault)}
<button>${changes.approve}</button>
</form></section>`;
}

/** The changes that wait, each with its page and a button that cancels it. */
export function renderWaiting(request: FastifyRequest, open: readonly NamedChange[]): Html | null {
  if (open.length === 0) return null;
  const words = texts(request);
  const { changes } = words;
  const url = ownUrl(request, '/settings/changes');
  const mayCancel = isChangeAllowed(membershipOf(request), 'money.cancel');
  return html`<section aria-labelledby="waiting"><h2 id="waiting">${changes.waiting}</h2>
<ul class="rows">${open.map(
    change =>
      html`<li><div><a href="${url}/${change.id}">${changes.kinds[changeName(change)]}</a>: ${change.branch_name}${change.network_name !== null && html`, ${renderNetworkOf(words, change)}`}<br>
${change.address !== null && html`${inGroups(change.address)}<br>`}
<span class="quiet">${changes.proposedBy} ${proposerOf(change)}. ${changes.takesEffect} ${renderWhen(words, change)}</span></div>
${mayCancel && renderButton(`${url}/${change.id}/cancel`, changes.cancel, 'danger')}</li>`,
  )}</ul></section>`;
}
