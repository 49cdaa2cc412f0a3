import type { Keyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { randomHex } from '#crypto/random-hex.ts';
import type { ActiveStatus, MerchantUser, UserRole } from '#storage/database/account-tables.ts';
import {
  findMerchantUser,
  findUserOfPerson,
  insertMerchantUser,
  lockMerchantUser,
  updateMerchantUser,
} from '#storage/repositories/accounts/merchant-users.ts';
import { findTestTwin, lockMerchant } from '#storage/repositories/accounts/merchants.ts';
import { lockPerson } from '#storage/repositories/people/people.ts';
import { endAccess, endLinksOfFormerAdmins } from '#storage/repositories/people/team.ts';
import { notifyOfFormerAdmin, notifyOfNewAdmin } from './admin-notices.ts';
import { audited, columnsToSet, OperationRefused, type Operator } from './audit/audited-change.ts';
import { requireLockedMerchant, requireMerchant } from './merchants.ts';

const CLIENT_ID_PREFIX = 'mpc_';
const CLIENT_ID_BYTES = 12;
const API_KEY_PREFIX = 'mpa_';
const API_KEY_BYTES = 32;

/** Credentials of the older contract. Only a hash of the API key is stored. */
interface LegacyCredentials {
  readonly clientId: string;
  readonly apiKey: string;
}

/** @throws OperationRefused for an unknown merchant. */
export function createUser(
  operator: Operator,
  input: { merchantId: string; name: string; email: string; role: UserRole },
): Promise<MerchantUser> {
  return audited(operator, 'user.create', async (tx, now) => {
    await requireMerchant(tx, input.merchantId);
    const user = await insertMerchantUser(tx, {
      id: newId(),
      merchant_id: input.merchantId,
      name: input.name,
      email: input.email,
      role: input.role,
      created_at: now,
    });
    return { result: user, objectId: user.id, detail: { ...input } };
  });
}

interface UserChange {
  readonly status?: ActiveStatus | undefined;
  readonly role?: UserRole | undefined;
}

/**
 * Changes a user. One that becomes inactive loses the open invitation, and the person's sessions end. The
 * links that the person made for others end too, also when the person is no longer an admin. The admins are
 * notified when somebody becomes an admin or stops being one.
 * A deactivation or demotion in a live merchant applies to the person in its test twin too.
 * @throws OperationRefused for an unknown user, or when nothing is to be set.
 */
export function setUser(operator: Operator, id: string, change: UserChange): Promise<MerchantUser> {
  const columns = columnsToSet({ status: change.status, role: change.role });
  return audited(operator, 'user.set', async (tx, now) => {
    const before = await findMerchantUser(tx, id);
    if (before === undefined) throw noUser(id);
    // Locked before the user, as the panel does, and so that nobody is admitted to a new twin meanwhile.
    await requireLockedMerchant(tx, before.merchant_id);
    const twin = await findTestTwin(tx, before.merchant_id);
    if (twin !== undefined) await lockMerchant(tx, twin.id);
    const former = await lockMerchantUser(tx, id);
    if (former === undefined) throw noUser(id);
    if (former.person_id !== null) await lockPerson(tx, former.person_id);
    const account = { kind: 'merchant', accountId: former.merchant_id } as const;
    const told = await notifyOfFormerAdmin(operator, tx, account, former, change);
    await notifyOfNewAdmin(operator, tx, account, former, change);
    // A trigger keeps the former time if neither status nor role changes.
    const user = await updateMerchantUser(tx, id, { ...columns, standing_since: now });
    if (user === undefined) throw noUser(id);
    if (change.status === 'inactive') await endAccess(tx, 'merchant', user, now);
    await endLinksOfFormerAdmins(tx, 'merchant', user.merchant_id, now);
    const isDemoted = former.role === 'admin' && user.role === 'member';
    await restrictInTwin({ ...operator, db: tx }, user, {
      status: change.status === 'inactive' ? 'inactive' : undefined,
      role: isDemoted ? 'member' : undefined,
    });
    return { result: user, objectId: id, detail: { ...columns, ...told } };
  });
}

/** Applies a deactivation or demotion in a live merchant to the person in its test twin. */
async function restrictInTwin(
  operator: Operator,
  { merchant_id: liveId, person_id: personId }: MerchantUser,
  { status, role }: UserChange,
): Promise<void> {
  if (personId === null || (status ?? role) === undefined) return;
  const { db } = operator;
  const twin = await findTestTwin(db, liveId);
  const user = twin && (await findUserOfPerson(db, { merchant_id: twin.id, person_id: personId }));
  if (user === undefined) return;
  const change = {
    ...(user.status === status ? {} : { status }),
    ...(user.role === role ? {} : { role }),
  };
  if ((change.status ?? change.role) === undefined) return;
  // The audit log files changes of the twin under the twin.
  await setUser({ ...operator, accountId: null }, user.id, change);
}

/**
 * Issues an API key of the older contract. It replaces the user's previous key at once; the client ID
 * stays the same.
 * @throws OperationRefused for an unknown user, and for one whose key would not work: an inactive user or
 * a member.
 */
export function issueLegacyKey(
  operator: Operator,
  keyring: Keyring,
  id: string,
): Promise<LegacyCredentials> {
  return audited(operator, 'user.legacy-key', async tx => {
    const user = await lockMerchantUser(tx, id);
    if (user === undefined) throw noUser(id);
    if (user.role !== 'admin' || user.status !== 'active') {
      const { status, role } = user;
      throw new OperationRefused('legacy-key-needs-admin', { status, role });
    }
    const clientId = user.client_id ?? randomHex(CLIENT_ID_PREFIX, CLIENT_ID_BYTES);
    const apiKey = randomHex(API_KEY_PREFIX, API_KEY_BYTES);
    await updateMerchantUser(tx, id, {
      client_id: clientId,
      api_key_hash: keyring.hash(apiKey, clientId),
      master_key_version: keyring.currentVersion,
    });
    return { result: { clientId, apiKey }, objectId: id, detail: { clientId } };
  });
}

function noUser(id: string): OperationRefused {
  return new OperationRefused('user-unknown', { userId: id });
}
