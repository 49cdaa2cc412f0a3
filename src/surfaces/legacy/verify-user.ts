import { timingSafeEqual } from 'node:crypto';
import { type Principal, requireOwnAccess } from '#accounts/keys/principal.ts';
import type { Keyring } from '#crypto/keyring.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  findUserByClientId,
  renewApiKeyHash,
  type UserWithAccounts,
} from '#storage/repositories/accounts/merchant-users.ts';
import type { BasicCredentials } from './authorization.ts';
import { LegacyRefusal } from './refusal.ts';

const CLIENT_ID = /^mpc_[0-9a-f]{24}$/;
/** Looked up instead of a malformed client ID, so that every refusal takes the same time. */
const NO_CLIENT_ID = 'mpc_';
/** Compared with if there is no user, for the same reason. */
const NO_HASH = Buffer.alloc(32);

/**
 * Finds the active Merchant Admin that the credentials belong to. Rehashes an API key that was hashed under a former
 * master key: only now is its plain text known.
 * @throws LegacyRefusal for an unknown client ID, a wrong API key, an inactive user or a user who is not an admin, in
 * this order.
 */
export async function verifyUser(
  db: Connection,
  keyring: Keyring,
  { clientId, apiKey }: BasicCredentials,
): Promise<UserWithAccounts> {
  // Text with a NUL would make the query fail instead of finding nothing.
  const known = CLIENT_ID.test(clientId) ? clientId : NO_CLIENT_ID;
  const record = await findUserByClientId(db, known);
  const { api_key_hash: stored, master_key_version: version } = record?.user ?? {};
  const given = keyring.hash(apiKey, clientId, version ?? 0);
  const matches = timingSafeEqual(given, stored ?? NO_HASH);
  if (record === undefined) throw new LegacyRefusal('clientIdInvalid');
  if (!matches) throw new LegacyRefusal('apiKeyInvalid');
  if (record.user.status !== 'active') throw new LegacyRefusal('userInactive');
  if (record.user.role !== 'admin') throw new LegacyRefusal('userNotAdmin');
  if (stored && version !== keyring.currentVersion) {
    const renewed = { hash: keyring.hash(apiKey, clientId), version: keyring.currentVersion };
    // When that fails, the next use tries again.
    await renewApiKeyHash(db, record.user.id, { former: stored, ...renewed }).catch(
      () => undefined,
    );
  }
  return record;
}

/**
 * Checks that the user's merchant may use the API, given the current state of its accounts.
 * @throws ApiError E2008, E2102 or E2103, in this order.
 */
export function authorizeUser({ user, merchant }: UserWithAccounts): Principal {
  requireOwnAccess(merchant);
  return {
    kind: 'merchant',
    keyId: user.client_id ?? user.id,
    accountId: merchant.id,
    accountKind: merchant.accountKind,
    environment: merchant.environment,
  };
}
