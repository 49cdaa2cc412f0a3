import type { AddressChange } from '#storage/database/account-tables.ts';
import {
  findMerchantAdmin,
  hasOtherAdmin,
  type MerchantAdmin,
} from '#storage/repositories/accounts/merchant-admins.ts';
import { OperationRefused, type Operator } from './audit/audited-change.ts';

/**
 * How long somebody who got a password or authenticator app by a link may not propose where money goes, in
 * milliseconds: long enough for the others to notice an intruder.
 */
export const RECOVERY_HOLD_MS = 24 * 60 * 60_000;

/**
 * Requires an admin, who may cancel any change. Checked in the transaction of the change, so that somebody
 * who was demoted meanwhile changes nothing.
 * @throws OperationRefused for anybody else.
 */
export async function requireAdmin(
  { db, personId }: Operator,
  merchantId: string,
): Promise<MerchantAdmin> {
  const admin =
    personId === undefined ? undefined : await findMerchantAdmin(db, merchantId, personId);
  if (admin === undefined) throw new OperationRefused('admin-needed');
  return admin;
}

/**
 * Requires somebody who may propose a change.
 * @throws OperationRefused for anybody but an admin, and for one who got a password or app by a link within
 * RECOVERY_HOLD_MS.
 */
export async function requireProposer(
  operator: Operator,
  merchantId: string,
): Promise<MerchantAdmin> {
  const admin = await requireAdmin(operator, merchantId);
  if (admin.recoveredAt === null) return admin;
  const freeAt = admin.recoveredAt.getTime() + RECOVERY_HOLD_MS;
  if (operator.clock() >= freeAt) return admin;
  throw new OperationRefused('recovered-lately', { freeAt: new Date(freeAt) });
}

/**
 * Requires an admin of standing: one who has been an admin, with the same password and app, for as long as changes of
 * where money goes wait. So nobody who got in recently, or was let in by an intruder, can be the second admin.
 * @param delayMs How long changes wait, in milliseconds.
 * @throws OperationRefused for anybody else.
 */
export async function requireEstablishedAdmin(
  operator: Operator,
  merchantId: string,
  delayMs: number,
): Promise<MerchantAdmin> {
  const admin = await requireProposer(operator, merchantId);
  const since = Math.max(admin.standingSince.getTime(), admin.factorsSince.getTime());
  if (operator.clock() >= since + delayMs) return admin;
  throw new OperationRefused('admin-too-new', { freeAt: new Date(since + delayMs) });
}

/**
 * Requires somebody who may approve a change, so that it takes effect at once: an admin of standing who has
 * not proposed it.
 * @throws OperationRefused for anybody else.
 */
export async function requireApprover(
  operator: Operator,
  { merchant_id: merchantId, person_id: proposerId }: AddressChange,
  delayMs: number,
): Promise<MerchantAdmin> {
  if (operator.personId === proposerId) throw new OperationRefused('change-is-own');
  return requireEstablishedAdmin(operator, merchantId, delayMs);
}

/** @throws OperationRefused if nobody else could approve a change. */
export async function requireOtherAdmin(
  { db }: Operator,
  merchantId: string,
  { personId }: MerchantAdmin,
): Promise<void> {
  if (await hasOtherAdmin(db, merchantId, personId)) return;
  throw new OperationRefused('other-admin-missing');
}
