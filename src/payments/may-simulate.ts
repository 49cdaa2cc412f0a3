import { audited, OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { countAuditEntries } from '#storage/repositories/accounts/audit-log.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';

const REFUSAL = 'payment.refuse-simulation';
/**
 * How many attempts of one actor on one payment the audit log has, which is kept for ever: whoever repeats them does
 * not fill it. Those of a key are in the request log, too.
 */
export const ATTEMPTS_AUDITED = 10;

/**
 * Whether payments of a merchant may be simulated: a test merchant's on every service, those of a live one only where
 * the service simulates. The database decides it once more, where a simulated transfer settles a payment.
 * @param simulation Whether the service simulates the payments of all merchants; never in production.
 */
export function maySimulate(simulation: boolean, environment: MerchantEnvironment): boolean {
  return simulation || environment === 'test';
}

/**
 * The environment of a payment's merchant, if the payment may be simulated.
 * @throws OperationRefused for that of a live merchant on a service that does not simulate.
 */
export async function requireSimulable(
  db: Connection,
  simulation: boolean,
  { id, merchant_id: merchantId }: Pick<Payment, 'id' | 'merchant_id'>,
): Promise<MerchantEnvironment> {
  const environment = (await findMerchant(db, merchantId))?.environment ?? 'live';
  if (maySimulate(simulation, environment)) return environment;
  throw new OperationRefused('simulation-of-live-merchant', { paymentId: id });
}

/** Writes an attempt to simulate a live merchant's payment to the audit log, unless the actor has made enough. */
export async function auditRefusal(
  operator: Operator,
  { id: objectId }: { readonly id: string },
): Promise<void> {
  const { db, actor } = operator;
  const attempt = { action: REFUSAL, actor, objectId };
  if ((await countAuditEntries(db, attempt, ATTEMPTS_AUDITED)) === ATTEMPTS_AUDITED) return;
  await audited(operator, REFUSAL, async () => ({ result: undefined, objectId }));
}
