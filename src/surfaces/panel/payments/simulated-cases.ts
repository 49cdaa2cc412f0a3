import { listCases, type SimulationCase } from '#onchain/settlement/simulate.ts';
import { maySimulate } from '#payments/may-simulate.ts';
import { listRegulatedCases } from '#payments/processors/simulate-regulated.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';

/** Of the merchant whose payments a person sees. */
export function environmentOf(membership: Membership): MerchantEnvironment {
  return membership.kind === 'merchant' ? membership.environment : 'live';
}

/** The cases that can be simulated on a merchant's payment now. */
export async function casesOf(
  { clock, reports, simulation }: PanelDependencies,
  membership: Membership,
  payment: PaymentOnNetwork,
): Promise<SimulationCase[]> {
  const environment = environmentOf(membership);
  if (!maySimulate(simulation, environment)) return [];
  if (payment.flow !== 'crypto') return listRegulatedCases(payment);
  return listCases(reports, payment, environment, new Date(clock()));
}
