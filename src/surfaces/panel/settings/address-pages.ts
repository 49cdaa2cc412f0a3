import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { membershipOf } from '../hooks/access.ts';
import { texts } from '../hooks/language.ts';
import { ownPath } from '../kit/navigation.ts';
import { networkName } from './network-name.ts';

/** The page of addresses, below the merchant's own path. */
export const ADDRESSES = '/settings/addresses';
/** Path of the routes. */
export const ADDRESSES_PATH = `/merchants/:accountId${ADDRESSES}`;

export const networkParams = Type.Object({ blockchainId: Type.String({ maxLength: 40 }) });

export type NetworkRequest = FastifyRequest & { params: Static<typeof networkParams> };
/** A request whose form names a branch. */
type BranchRequest = NetworkRequest & { body: { readonly branch: string } };

/** A page's query, which keeps the branch unless it is the main one. */
export function queryOf({ id, is_main }: Branch): string {
  return is_main ? '' : `?branch=${id}`;
}

/** The page of a branch's addresses on a network, below the merchant's own path. */
export function networkPlace(branch: Branch, networkId: string): string {
  return `${ADDRESSES}/${networkId}${queryOf(branch)}`;
}

/**
 * The branch and the network of a form, and the path of their page.
 * @throws ApiError E3001
 */
export async function requirePlace(request: BranchRequest, { db }: { readonly db: Database }) {
  const network = await requireNetwork(db, request.params.blockchainId);
  const branches = await listBranches(db, membershipOf(request).accountId);
  const branch = chooseBranch(branches, request.body.branch);
  const path = ownPath(request, networkPlace(branch, network.id));
  return { network, branch, path, name: networkName(texts(request), network) };
}

/** @throws ApiError E3001 */
export async function requireNetwork(db: Database, id: string): Promise<Network> {
  const network = await findNetwork(db, id);
  if (network === undefined) throw new ApiError('E3001');
  return network;
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
