import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import {
  checkAddress,
  proposeAddress,
  readDelay,
  type WantedAddress,
} from '#accounts/address-changes.ts';
import { AddressTaken } from '#accounts/address-holders.ts';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { ADDRESSES_MAXIMUM, removeAddress } from '#accounts/deposit-addresses.ts';
import { reportTaken } from '#accounts/report-taken.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listOpenChanges } from '#storage/repositories/accounts/address-changes.ts';
import { listDatedAddresses } from '#storage/repositories/accounts/deposit-addresses.ts';
import { findMerchant, listBranches } from '#storage/repositories/accounts/merchants.ts';
import { findNetwork, listNetworks } from '#storage/repositories/chains/networks.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, operatorOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { PanelPage } from '../kit/document.ts';
import { isTest } from '../kit/environment.ts';
import { faultOf, messageOf } from '../kit/failures.ts';
import type { FormFault } from '../kit/form.ts';
import { changeWithFactor } from '../kit/fresh-factor.ts';
import { accountPath } from '../kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { texts } from '../texts/index.ts';
import {
  addressesPage,
  type NetworkParts,
  networkPage,
  networkUrl,
  reviewPage,
} from './address-views.ts';
import { renderWaiting } from './change-views.ts';

const PATH = '/merchants/:accountId/settings/addresses';

const branch = Uuid('ID of the branch.');
const querystring = Type.Object({ branch: Type.Optional(branch) });
const params = Type.Object({ blockchainId: Type.String({ maxLength: 40 }) });
const RemoveForm = Type.Object({ branch, address: Type.String() });
const ReviewForm = Type.Object({
  ...RemoveForm.properties,
  kind: StringEnum(['address.set', 'address.add'], 'Whether it replaces what is there.'),
});
const ProposeForm = Type.Object({
  ...ReviewForm.properties,
  /** The addresses that the new one was compared with. */
  seen: Type.Array(Type.String(), { maxItems: ADDRESSES_MAXIMUM }),
  code: Type.String({ default: '' }),
});

type NetworkRequest = FastifyRequest & { params: Static<typeof params> };

/** Deposit addresses of a merchant's branches: the present ones, and changes, which wait before they take effect. */
export function registerAddresses(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, db, panelUrl } = deps;
  const settingsOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/settings`;
  const basePath = basePathOf(panelUrl);

  app.get(PATH, withPermission('merchant', 'settings.read', { querystring }), async request => {
    const { accountId } = membershipOf(request);
    const branches = await listBranches(db, accountId);
    if (branches.length === 0) {
      const { title, noBranch: lead } = texts.settings.addresses;
      const url = `${basePath}${settingsOf(request)}/branches`;
      const content = html`<p><a href="${url}">${texts.settings.branches.title}</a></p>`;
      return { title, lead, content };
    }
    const shown = chooseBranch(branches, request.query.branch);
    const [frame, networks, addresses, merchant] = await Promise.all([
      readFrame(request, shown),
      listNetworks(db),
      listDatedAddresses(db, shown.id),
      findMerchant(db, accountId),
    ]);
    return addressesPage({
      ...frame,
      branches,
      networks,
      addresses,
      isTest: isTest(membershipOf(request)),
      needsSecondAdmin: merchant?.needs_second_admin === true,
      settingsUrl: basePath + settingsOf(request),
    });
  });

  const reading = withPermission('merchant', 'settings.read', { params, querystring });
  app.get(`${PATH}/:blockchainId`, reading, async request => {
    const branches = await listBranches(db, membershipOf(request).accountId);
    return showNetwork(request, chooseBranch(branches, request.query.branch), null);
  });

  const reviewing = withPermission('merchant', 'money.change', { params, body: ReviewForm });
  app.post(`${PATH}/:blockchainId/review`, reviewing, request =>
    review(request, request.body, null),
  );

  const proposing = withPermission('merchant', 'money.change', { params, body: ProposeForm });
  app.post(`${PATH}/:blockchainId/propose`, proposing, async request => {
    const { accountId: merchantId } = membershipOf(request);
    const { blockchainId } = request.params;
    const { branch: branchId, kind, address: text, seen, code } = request.body;
    const own = await requireBranch(request, branchId);
    const wanted = { merchantId, branchId, kind, blockchainId, text };
    try {
      const change = await changeWithFactor(request, deps, code, operator =>
        proposeAddress(operator, wanted, seen, addressDelayMs),
      );
      if (change.outcome === null) return redirectTo(`${settingsOf(request)}/changes/${change.id}`);
    } catch (error) {
      if (error instanceof AddressTaken) return refuseTaken(request, own, error, { text, kind });
      return review(request, request.body, faultOf(error, request));
    }
    const url = `${settingsOf(request)}/addresses`;
    return redirectTo(networkUrl({ url, branch: own }, blockchainId));
  });

  const removing = withPermission('merchant', 'money.protect', { params, body: RemoveForm });
  app.post(`${PATH}/:blockchainId/remove`, removing, async request => {
    const { blockchainId } = request.params;
    const { branch: branchId, address } = request.body;
    const own = await requireBranch(request, branchId);
    const owner = { merchantId: membershipOf(request).accountId, branchId };
    try {
      await removeAddress(operatorOf(request, deps), owner, blockchainId, address);
    } catch (error) {
      return showNetwork(request, own, faultOf(error, request));
    }
    const url = `${settingsOf(request)}/addresses`;
    return redirectTo(networkUrl({ url, branch: own }, blockchainId));
  });

  /** The page that compares the old and the new address; if the address is refused, the form again. */
  async function review(
    request: NetworkRequest,
    { branch: branchId, kind, address: text }: Static<typeof ReviewForm>,
    fault: FormFault | null,
  ): Promise<PageOrRedirect> {
    const { accountId: merchantId } = membershipOf(request);
    const network = await requireNetwork(request.params.blockchainId);
    const own = await requireBranch(request, branchId);
    const wanted = { merchantId, branchId, kind, blockchainId: network.id, text };
    try {
      const checked = await checkAddress(db, wanted, new Date(deps.clock()));
      const delay = await readDelay(db, merchantId, addressDelayMs);
      const frame = await readFrame(request, own, network);
      return reviewPage({ ...frame, network, kind, checked, delay, fault });
    } catch (error) {
      if (error instanceof AddressTaken) return refuseTaken(request, own, error, { text, kind });
      if (!(error instanceof OperationRefused)) throw error;
      const refused = { field: 'address', message: messageOf(error, request) };
      return showNetwork(request, own, refused, { address: text, kind });
    }
  }

  /** Reports the refused address to the operator, and shows the form again. */
  async function refuseTaken(
    request: NetworkRequest,
    own: Branch,
    taken: AddressTaken,
    { text: address, kind }: Pick<WantedAddress, 'text' | 'kind'>,
  ): Promise<PanelPage> {
    await reportTaken(deps, taken);
    const refused = { field: 'address', message: messageOf(taken, request) };
    return showNetwork(request, own, refused, { address, kind });
  }

  async function showNetwork(
    request: NetworkRequest,
    own: Branch,
    fault: FormFault | null,
    typed: NetworkParts['typed'] = {},
  ): Promise<PanelPage> {
    const network = await requireNetwork(request.params.blockchainId);
    const [frame, all] = await Promise.all([
      readFrame(request, own, network),
      listDatedAddresses(db, own.id),
    ]);
    const addresses = all.filter(({ blockchainId }) => blockchainId === network.id);
    return networkPage({
      ...frame,
      network,
      addresses,
      isWaiting: frame.waiting !== null,
      fault,
      typed,
    });
  }

  /** @param network Shows only the changes of this network. */
  async function readFrame(request: FastifyRequest, own: Branch, network?: Network) {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const open = await listOpenChanges(db, accountId);
    const shown = open.filter(
      ({ blockchain_id, branch_id }) =>
        network === undefined || (blockchain_id === network.id && branch_id === own.id),
    );
    const settingsUrl = basePath + settingsOf(request);
    return {
      url: `${settingsUrl}/addresses`,
      branch: own,
      mayChange: isChangeAllowed(membership, 'money.change'),
      isDemo: sessionOf(request).person.is_demo,
      isUs: membership.kind === 'merchant' && membership.accountKind === 'us',
      waiting: renderWaiting(
        `${settingsUrl}/changes`,
        shown,
        isChangeAllowed(membership, 'money.cancel'),
      ),
    };
  }

  async function requireBranch(request: FastifyRequest, id: string): Promise<Branch> {
    return chooseBranch(await listBranches(db, membershipOf(request).accountId), id);
  }

  async function requireNetwork(id: string): Promise<Network> {
    const network = await findNetwork(db, id);
    if (network === undefined) throw new ApiError('E3001');
    return network;
  }
}

/** One of the merchant's branches; without an ID, the main one. */
function chooseBranch(branches: readonly Branch[], id: string | undefined): Branch {
  const [first] = branches;
  const found = id === undefined ? first : branches.find(branch => branch.id === id);
  if (found === undefined) throw new ApiError('E3001');
  return found;
}
