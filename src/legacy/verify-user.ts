import { timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../crypto/keyring.ts';
import type { Connection } from '../database/connection.ts';
import { ApiError } from '../errors/api-error.ts';
import { type Principal, requireOwnAccess } from '../keys/principal.ts';
import { findUserByClientId, type UserWithAccounts } from '../repositories/merchant-users.ts';
import type { BasicCredentials } from './authorization.ts';
import { LegacyRefusal } from './refusal.ts';

const CLIENT_ID = /^mpc_[0-9a-f]{24}$/;
/** Looked up in place of what cannot be a client ID, so that every refusal costs the same work. */
const NO_CLIENT_ID = 'mpc_';
/** Compared with where there is no user, to the same end. */
const NO_HASH = Buffer.alloc(32);

/**
 * Finds the active Merchant Admin whom the credentials name.
 * @throws LegacyRefusal for the client ID, the API key, an inactive user and one who is no admin.
 */
export async function verifyUser(
  db: Connection,
  keyring: Keyring,
  { clientId, apiKey }: BasicCredentials,
): Promise<UserWithAccounts> {
  // The database refuses text with a NUL instead of not finding it.
  const known = CLIENT_ID.test(clientId) ? clientId : NO_CLIENT_ID;
  const record = await findUserByClientId(db, known);
  const { api_key_hash: stored, master_key_version: version } = record?.user ?? {};
  const given = keyring.hash(apiKey, clientId, version ?? 0);
  const matches = timingSafeEqual(given, stored ?? NO_HASH);
  if (record === undefined) throw new LegacyRefusal('clientIdInvalid');
  if (!matches) throw new LegacyRefusal('apiKeyInvalid');
  if (record.user.status !== 'active') throw new LegacyRefusal('userInactive');
  if (record.user.role !== 'admin') throw new LegacyRefusal('userNotAdmin');
  return record;
}

/**
 * Decides whether the user's merchant may use the API at all, from the present state of its accounts.
 * @throws ApiError E2008, E2102 or E2103, in this order.
 */
export function authorizeUser({ user, merchant }: UserWithAccounts): Principal {
  if (merchant.status !== 'active') throw new ApiError('E2008', 'The merchant is inactive.');
  requireOwnAccess(merchant);
  return {
    kind: 'merchant',
    keyId: user.client_id ?? user.id,
    accountId: merchant.id,
    accountKind: merchant.accountKind,
  };
}
