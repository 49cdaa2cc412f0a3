import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { IS_WAITING } from './deposits.ts';

/** Deposits whose price is recorded: those in the inbox, and final ones that belong to a payment or were dismissed. */
type Priced = 'waiting' | 'settled';

/** Written as in their indexes. */
const UNPRICED: Readonly<Record<Priced, RawBuilder<SqlBool>>> = {
  waiting: sql`${IS_WAITING} and usd_price is null`,
  settled: sql`
    (payment_id is not null or dismissed_at is not null) and state = 'final'
    and usd_price is null and price_wanted`,
};

/** A network with deposits whose value is not known. */
interface UnpricedNetwork {
  readonly blockchainId: string;
  readonly assetSymbol: string;
}

/** The networks, of which there are few, that have a deposit to price. */
export async function listUnpricedNetworks(
  db: Connection,
  which: Priced,
): Promise<UnpricedNetwork[]> {
  const { rows } = await sql<UnpricedNetwork>`
    select id as "blockchainId", asset_symbol as "assetSymbol" from networks
    cross join lateral (
      select from deposits
      where blockchain_id = networks.id and ${UNPRICED[which]} limit 1
    ) as unpriced`.execute(db);
  return rows;
}

/** Highest value that is recorded, in cents: below 2^53, up to which JavaScript's numbers are exact. */
const VALUE_MAXIMUM = 9_000_000_000_000_000;

/**
 * Records the price, and the value by it, of at most `limit` deposits that have none, oldest first;
 * skips those locked by others.
 * @param usdPrice US dollars for one whole unit, scaled by 1e18.
 * @returns How many there were.
 */
export async function priceDeposits(
  db: Connection,
  { which, blockchainId }: { readonly which: Priced; readonly blockchainId: string },
  { usdPrice, at }: { readonly usdPrice: bigint; readonly at: Date },
  limit: number,
): Promise<number> {
  const price = usdPrice.toString();
  const { numAffectedRows } = await sql`
    update deposits
    set usd_price = ${price}::numeric, priced_at = ${at},
        value_cents = least(
          div(token_amount * ${price}::numeric, power(10::numeric, 16 + asset_decimals)),
          ${sql.lit(VALUE_MAXIMUM)})::bigint
    from (
      select deposits.id, asset_decimals
      from deposits join networks on networks.id = blockchain_id
      where blockchain_id = ${blockchainId} and ${UNPRICED[which]}
      order by observed_at limit ${limit} for update of deposits skip locked
    ) as unpriced
    where deposits.id = unpriced.id`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
