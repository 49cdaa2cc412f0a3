import { listCases, type SimulationCase } from '#onchain/settlement/simulate.ts';
import { listRegulatedCases } from '#payments/processors/simulate-regulated.ts';
import type { PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';

/** The cases that can be simulated on a payment now. */
export async function casesOf(
  { clock, reports, simulation }: PanelDependencies,
  payment: PaymentOnNetwork,
): Promise<SimulationCase[]> {
  if (!simulation) return [];
  if (payment.flow !== 'crypto') return listRegulatedCases(payment);
  return listCases(reports, payment, new Date(clock()));
}
