import { type Static, Type } from '@sinclair/typebox';
import { removeAddress } from '#accounts/deposit-addresses.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { findOpenChangeOf } from '#storage/repositories/accounts/address-changes.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { Question } from '../kit/confirmation.ts';
import { isUs } from '../kit/environment.ts';
import { registerForm } from '../kit/form-route.ts';
import { inGroups } from '../kit/groups.ts';
import { redirectTo } from '../kit/pages.ts';
import { addressesPage } from './address-list.ts';
import {
  chooseBranch,
  type NetworkRequest,
  ADDRESSES_PATH as PATH,
  networkParams as params,
  requirePlace,
} from './address-pages.ts';
import { networkPage } from './address-views.ts';
import { renderNetwork } from './network-name.ts';
import { registerProposal } from './propose-address.ts';
import { findWalletUse, renderWallet } from './wallet-views.ts';

const branch = Uuid('ID of the branch.');
const querystring = Type.Object({ branch: Type.Optional(branch) });
const RemoveForm = Type.Object({ branch, address: Type.String() });

/** Deposit addresses of a merchant's branches: the present ones, and changes, which wait before they take effect. */
export function registerAddresses(app: TypedApp, deps: PanelDependencies): void {
  const { db } = deps;
  registerProposal(app, deps);

  app.get(PATH, withPermission('merchant', 'settings.read', { querystring }), request =>
    addressesPage(request, deps, request.query.branch),
  );

  const reading = withPermission('merchant', 'settings.read', { params, querystring });
  app.get(`${PATH}/:blockchainId`, reading, async request => {
    const branches = await listBranches(db, membershipOf(request).accountId);
    return networkPage(request, deps, chooseBranch(branches, request.query.branch), null);
  });

  registerForm(app, deps, `${PATH}/:blockchainId/remove`, {
    rule: { for: 'merchant', permission: 'money.protect' },
    params,
    body: RemoveForm,
    ask,
    change: (request, operator) => {
      const { branch: branchId, address } = request.body;
      const owner = { merchantId: membershipOf(request).accountId, branchId };
      return removeAddress(operator, owner, request.params.blockchainId, address);
    },
    again: async (request, fault) => {
      const { branch } = await requirePlace(request, deps);
      return networkPage(request, deps, branch, fault);
    },
    done: async (request, { address }) => {
      const { name, path } = await requirePlace(request, deps);
      return redirectTo(path, texts(request).settings.addresses.done.removed(name, address));
    },
  });

  /** Asks before an address is removed; nothing for one that is not there, whose removal is refused. */
  async function ask(
    request: NetworkRequest & { body: Static<typeof RemoveForm> },
  ): Promise<Question | null> {
    const words = texts(request);
    const { ofBranch, removal } = words.settings.addresses;
    const membership = membershipOf(request);
    const { address } = request.body;
    const { network, branch, name, path } = await requirePlace(request, deps);
    const thing = { branchId: branch.id, blockchainId: network.id };
    const [present, open, wallet] = await Promise.all([
      listAddressesOn(db, branch.id, network.id),
      findOpenChangeOf(db, membership.accountId, thing),
      findWalletUse(deps, branch.id, network.id),
    ]);
    if (!present.includes(address)) return null;
    const isLast = present.length === 1 && !isUs(membership);
    const content = html`<p>${renderNetwork(words, network)}. ${ofBranch(branch.name)}.</p>
<p>${wallet === null ? inGroups(address) : renderWallet(words, wallet)}</p>
${isLast && html`<p class="notice">${removal.isLast(branch.name)}</p>`}
${open !== undefined && html`<p>${removal.lapses}</p>`}
<p>${words.changes.openPayments}</p>`;
    return { title: removal.title(name), content, submit: removal.submit, back: path };
  }
}
