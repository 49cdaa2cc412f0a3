import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { ApiError } from '#errors/api-error.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listOpenChanges } from '#storage/repositories/accounts/address-changes.ts';
import { listDatedAddresses } from '#storage/repositories/accounts/deposit-addresses.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { membershipOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { isUs } from '../kit/environment.ts';
import type { FormFault } from '../kit/form.ts';
import { accountPath } from '../kit/navigation.ts';
import { type NetworkParts, networkPage, networkUrl } from './address-views.ts';
import { renderWaiting } from './change-views.ts';
import { networkName } from './network-name.ts';

export const ADDRESSES_PATH = '/merchants/:accountId/settings/addresses';

export const networkParams = Type.Object({ blockchainId: Type.String({ maxLength: 40 }) });

export type NetworkRequest = FastifyRequest & { params: Static<typeof networkParams> };
/** A request whose form names a branch. */
type BranchRequest = NetworkRequest & { body: { readonly branch: string } };

export type AddressPages = ReturnType<typeof createAddressPages>;

/** What the pages and forms of deposit addresses share. */
export function createAddressPages({ db, panelUrl }: PanelDependencies) {
  const settingsOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/settings`;

  /** @param network Shows only the changes of this network. */
  async function readFrame(request: FastifyRequest, branch: Branch, network?: Network) {
    const membership = membershipOf(request);
    const open = await listOpenChanges(db, membership.accountId);
    const shown = open.filter(
      ({ blockchain_id, branch_id }) =>
        network === undefined || (blockchain_id === network.id && branch_id === branch.id),
    );
    const settingsUrl = basePathOf(panelUrl) + settingsOf(request);
    return {
      url: `${settingsUrl}/addresses`,
      settingsUrl,
      branch,
      mayChange: isChangeAllowed(membership, 'money.change'),
      isDemo: sessionOf(request).person.is_demo,
      isUs: isUs(membership),
      waiting: renderWaiting(
        texts(request),
        `${settingsUrl}/changes`,
        shown,
        isChangeAllowed(membership, 'money.cancel'),
      ),
    };
  }

  async function showNetwork(
    request: NetworkRequest,
    branch: Branch,
    fault: FormFault | null,
    typed: NetworkParts['typed'] = {},
  ) {
    const network = await requireNetwork(request.params.blockchainId);
    const [frame, all] = await Promise.all([
      readFrame(request, branch, network),
      listDatedAddresses(db, branch.id),
    ]);
    const addresses = all.filter(({ blockchainId }) => blockchainId === network.id);
    const isWaiting = frame.waiting !== null;
    return networkPage(texts(request), { ...frame, network, addresses, isWaiting, fault, typed });
  }

  /**
   * The branch and the network of a form, and the path of their page.
   * @throws ApiError E3001
   */
  async function requirePlace(request: BranchRequest) {
    const network = await requireNetwork(request.params.blockchainId);
    const branches = await listBranches(db, membershipOf(request).accountId);
    const branch = chooseBranch(branches, request.body.branch);
    const url = `${settingsOf(request)}/addresses`;
    const path = networkUrl({ url, branch }, network.id);
    return { network, branch, path, name: networkName(texts(request), network) };
  }

  /** @throws ApiError E3001 */
  async function requireNetwork(id: string): Promise<Network> {
    const network = await findNetwork(db, id);
    if (network === undefined) throw new ApiError('E3001');
    return network;
  }

  return { settingsOf, readFrame, showNetwork, requirePlace };
}

/**
 * One of the merchant's branches; without an ID, the main one.
 * @throws ApiError E3001
 */
export function chooseBranch(branches: readonly Branch[], id: string | undefined): Branch {
  const [first] = branches;
  const found = id === undefined ? first : branches.find(branch => branch.id === id);
  if (found === undefined) throw new ApiError('E3001');
  return found;
}
