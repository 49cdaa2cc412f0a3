import { isChangeAllowed } from '#accounts/access/permissions.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import { listOpenChanges } from '#storage/repositories/accounts/address-changes.ts';
import { listDatedAddresses } from '#storage/repositories/accounts/deposit-addresses.ts';
import { lateSince } from '#time/late-window.ts';
import { html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { isUs } from '../kit/environment.ts';
import { type FormFault, renderField, renderSelect } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { inGroups } from '../kit/groups.ts';
import { ownUrl } from '../kit/navigation.ts';
import { ADDRESSES, type NetworkRequest, queryOf, requireNetwork } from './address-pages.ts';
import { renderWaiting } from './change-views.ts';
import { networkName } from './network-name.ts';
import { renderWalletUse } from './wallet-views.ts';

/**
 * The addresses of a branch on a network. While a change of them waits, there is no form for another.
 * @param typed What the form is shown again with.
 */
export async function networkPage(
  request: NetworkRequest,
  deps: PanelDependencies,
  branch: Branch,
  fault: FormFault | null,
  typed: { readonly address?: string; readonly kind?: string; readonly key?: string } = {},
): Promise<PanelPage> {
  const { db, clock } = deps;
  const words = texts(request);
  const own = words.settings.addresses;
  const membership = membershipOf(request);
  const network = await requireNetwork(db, request.params.blockchainId);
  const [all, changes] = await Promise.all([
    listDatedAddresses(db, branch.id, lateSince(clock())),
    listOpenChanges(db, membership.accountId),
  ]);
  const addresses = all.filter(({ blockchainId }) => blockchainId === network.id);
  const isWallet = addresses.some(({ wallet }) => wallet !== null);
  const open = changes.filter(
    ({ blockchain_id, branch_id }) => blockchain_id === network.id && branch_id === branch.id,
  );
  const waiting = renderWaiting(request, open);
  const mayChange = isChangeAllowed(membership, 'money.change');
  const url = ownUrl(request, ADDRESSES);
  const action = `${url}/${network.id}`;
  return {
    title: own.onNetwork(networkName(words, network)),
    lead: own.ofBranch(branch.name),
    fault,
    content: html`${waiting}
${!network.is_active && html`<p class="notice">${own.isOff}</p>`}
${
  addresses.length === 0
    ? html`<p>${isUs(membership) ? own.usAccount : own.noneHere}</p>`
    : html`${waiting !== null && html`<h2>${own.inForce}</h2>`}<ul class="rows">${addresses.map(
        ({ address, setAt, wallet }) =>
          html`<li><div>${wallet === null ? inGroups(address) : renderWalletUse(words, wallet)}<br><span class="quiet">${own.setAt} ${dateTime(words, setAt)}</span></div>
${
  mayChange &&
  html`<form method="post" action="${action}/remove"><input type="hidden" name="branch" value="${branch.id}"><input type="hidden" name="address" value="${address}"><button class="plain">${own.remove}<span class="visually-hidden"> ${address}</span></button></form>`
}</li>`,
      )}</ul>`
}
${
  mayChange &&
  waiting === null &&
  html`<section aria-labelledby="new"><h2 id="new">${own.change}</h2>
<form method="post" action="${action}/review" class="stack">
<input type="hidden" name="branch" value="${branch.id}">
${renderField({ name: 'address', label: own.newAddress, hint: own.newAddressHint, value: typed.key === undefined ? typed.address : '', autocomplete: 'off', maxlength: 200 }, fault)}
${
  addresses.length === 0 || isWallet
    ? html`<input type="hidden" name="kind" value="address.set">`
    : renderSelect('kind', own.how, Object.entries(own.hows), typed.kind)
}
<button>${own.compare}</button>
</form></section>
${
  network.family === 'bitcoin' &&
  html`<section aria-labelledby="wallet"><h2 id="wallet">${own.wallet.title}</h2>
<p>${own.wallet.lead} <a href="${deps.publicUrl}/docs/operating/wallets">${own.wallet.guide}</a></p>
<form method="post" action="${action}/review" class="stack">
<input type="hidden" name="branch" value="${branch.id}"><input type="hidden" name="kind" value="address.set">
${renderField({ name: 'key', label: own.wallet.key, hint: own.wallet.keyHint, value: typed.key, autocomplete: 'off', maxlength: 400 }, fault)}
${renderField({ name: 'address', id: 'next', label: own.wallet.next, hint: own.wallet.nextHint, value: typed.key === undefined ? '' : typed.address, autocomplete: 'off', maxlength: 200 }, fault)}
<button>${own.compare}</button>
</form></section>`
}`
}
<p><a href="${url}${queryOf(branch)}">${own.title}</a></p>`,
  };
}
