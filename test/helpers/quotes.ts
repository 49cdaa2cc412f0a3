import { termsFor } from '#onchain/settlement/quote-amounts.ts';
import { type ReservedQuote, reserveAmount } from '#onchain/settlement/reserve-amount.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';

/** Reserves the amount of a one-dollar payment, on a network where a whole unit is a dollar. */
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
