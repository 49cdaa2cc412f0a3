import { type Rates, RateUnavailable } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';
import { listUnpricedNetworks, priceDeposits } from '#storage/repositories/deposits/values.ts';

/**
 * Records what deposits in the inbox are worth, and final ones of payments, at the price of now: call it often, so
 * that this is the price at which they arrived or became final. At most `limit` of a network; those of an asset
 * without a price just now stay for the next call, also when they are dismissed meanwhile.
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
