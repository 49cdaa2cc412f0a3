import {
  type Simulation,
  type SimulationCase,
  simulate as simulateOn,
} from '#onchain/settlement/simulate.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';

/** Simulates a case on a payment of any merchant, as on a service that simulates. */
export function simulate(
  { db, rates }: { readonly db: Database; readonly rates: Rates },
  paymentId: string,
  played: SimulationCase,
  now: Date,
  blockchainId?: string,
): Promise<Simulation> {
  return simulateOn({ db, rates, simulation: true }, paymentId, played, now, blockchainId);
}
