import { OperationRefused } from '#accounts/audit/audited-change.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';

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
