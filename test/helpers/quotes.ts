import type { Connection } from '../../src/database/connection.ts';
import type { Payment } from '../../src/database/payment-tables.ts';
import { findNetwork } from '../../src/repositories/chains/networks.ts';
import { termsFor } from '../../src/settlement/quote-amounts.ts';
import { type ReservedQuote, reserveAmount } from '../../src/settlement/reserve-amount.ts';

/** Reserves what a payment of a dollar is asked for on a network where a whole unit is a dollar. */
export async function reserveDollar(
  db: Connection,
  payment: Payment,
  blockchainId: string,
  now: Date,
): Promise<ReservedQuote | undefined> {
  const network = await findNetwork(db, blockchainId);
  if (network === undefined) throw new Error(`there is no network ${blockchainId}`);
  const asset = { symbol: network.asset_symbol, decimals: network.asset_decimals };
  const terms = termsFor(10n ** BigInt(asset.decimals), asset, 10n ** 18n);
  return reserveAmount(db, { payment, network, terms, log: undefined }, now);
}
