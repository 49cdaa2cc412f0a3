import { type Static, Type } from '@sinclair/typebox';
import { removeAddress } from '#accounts/deposit-addresses.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { findOpenChangeOf } from '#storage/repositories/accounts/address-changes.ts';
import {
  listAddressesOn,
  listDatedAddresses,
} from '#storage/repositories/accounts/deposit-addresses.ts';
import { findMerchant, listBranches } from '#storage/repositories/accounts/merchants.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { Question } from '../kit/confirmation.ts';
import { isTest, isUs } from '../kit/environment.ts';
import { registerForm } from '../kit/form-route.ts';
import { redirectTo } from '../kit/pages.ts';
import { addressesPage } from './address-list.ts';
import {
  chooseBranch,
  createAddressPages,
  type NetworkRequest,
  ADDRESSES_PATH as PATH,
  networkParams as params,
} from './address-pages.ts';
import { renderRemoval } from './address-views.ts';
import { registerProposal } from './propose-address.ts';

const branch = Uuid('ID of the branch.');
const querystring = Type.Object({ branch: Type.Optional(branch) });
const RemoveForm = Type.Object({ branch, address: Type.String() });

/** Deposit addresses of a merchant's branches: the present ones, and changes, which wait before they take effect. */
export function registerAddresses(app: TypedApp, deps: PanelDependencies): void {
  const { db } = deps;
  const pages = createAddressPages(deps);
  const { settingsOf, readFrame, showNetwork, requirePlace } = pages;
  registerProposal(app, deps, pages);

  app.get(PATH, withPermission('merchant', 'settings.read', { querystring }), async request => {
    const words = texts(request);
    const { accountId } = membershipOf(request);
    const branches = await listBranches(db, accountId);
    if (branches.length === 0) {
      const { title, noBranch: lead } = words.settings.addresses;
      const url = basePathOf(deps.panelUrl) + settingsOf(request);
      const content = html`<p><a href="${url}/branches">${words.settings.branches.title}</a></p>`;
      return { title, lead, content };
    }
    const shown = chooseBranch(branches, request.query.branch);
    const [frame, networks, addresses, merchant] = await Promise.all([
      readFrame(request, shown),
      listNetworks(db),
      listDatedAddresses(db, shown.id),
      findMerchant(db, accountId),
    ]);
    return addressesPage(words, {
      ...frame,
      branches,
      networks,
      addresses,
      isTest: isTest(membershipOf(request)),
      needsSecondAdmin: merchant?.needs_second_admin === true,
    });
  });

  const reading = withPermission('merchant', 'settings.read', { params, querystring });
  app.get(`${PATH}/:blockchainId`, reading, async request => {
    const branches = await listBranches(db, membershipOf(request).accountId);
    return showNetwork(request, chooseBranch(branches, request.query.branch), null);
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
    again: async (request, fault) =>
      showNetwork(request, (await requirePlace(request)).branch, fault),
    done: async (request, { address }) => {
      const { name, path } = await requirePlace(request);
      return redirectTo(path, texts(request).settings.addresses.done.removed(name, address));
    },
  });

  /** Asks before an address is removed; nothing for one that is not there, whose removal is refused. */
  async function ask(
    request: NetworkRequest & { body: Static<typeof RemoveForm> },
  ): Promise<Question | null> {
    const words = texts(request);
    const { removal } = words.settings.addresses;
    const membership = membershipOf(request);
    const { address } = request.body;
    const { network, branch, name, path } = await requirePlace(request);
    const thing = { branchId: branch.id, blockchainId: network.id };
    const [present, open] = await Promise.all([
      listAddressesOn(db, branch.id, network.id),
      findOpenChangeOf(db, membership.accountId, thing),
    ]);
    if (!present.includes(address)) return null;
    const content = renderRemoval(words, {
      network,
      branch,
      address,
      isLast: present.length === 1 && !isUs(membership),
      isWaiting: open !== undefined,
    });
    return { title: removal.title(name), content, submit: removal.submit, back: path };
  }
}
