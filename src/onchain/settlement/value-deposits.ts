import { type Rates, RateUnavailable } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';
import { listUnpricedNetworks, priceDeposits } from '#storage/repositories/deposits/values.ts';

/**
 * Records the value of deposits in the inbox, and of final deposits of payments, at the current price. Call it often,
 * so that this is close to the price at which they arrived or became final. Values at most `limit` of each kind on a
 * network. Deposits of an asset without a current price stay for the next call, even if they are dismissed meanwhile.
 * @returns How many were valued.
 */
export async function valueDeposits(
  db: Database,
  rates: Rates,
  now: Date,
  limit: number,
): Promise<number> {
  let valued = 0;
  for (const which of ['waiting', 'settled'] as const) {
    for (const { blockchainId, assetSymbol } of await listUnpricedNetworks(db, which)) {
      const usdPrice = await priceOf(rates, assetSymbol);
      if (usdPrice === null) continue;
      valued += await priceDeposits(db, { which, blockchainId }, { usdPrice, at: now }, limit);
    }
  }
  return valued;
}

async function priceOf(rates: Rates, symbol: string): Promise<bigint | null> {
  try {
    return await rates.usdPrice(symbol);
  } catch (error) {
    if (error instanceof RateUnavailable) return null;
    throw error;
  }
}
