import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';

/** An address, in its canonical spelling, on a network. */
export interface Place {
  readonly blockchainId: string;
  readonly address: string;
}

/** What payments ask for at an address. All amounts are in the asset's smallest unit. */
export interface Asked extends Place {
  /** The smallest whole amount; null if nothing is asked for. */
  readonly least: bigint | null;
  /** The given number of cents in the asset, by the price of the payment for which it is the least. */
  readonly worth: bigint | null;
  /** Amounts that complete payments, or completed them, after an underpayment. */
  readonly rests: readonly bigint[];
  /** Whether a payment waits for funds there now. */
  readonly isAwaited: boolean;
}

/** When the amounts that are read were reserved and released; see `listAsked`. */
export interface AskedBetween {
  readonly since: Date;
  readonly until: Date | null;
  readonly releasedBy: Date | null;
}

/**
 * What payments ask for at each of these addresses, or asked for until after `since`.
 * @param cents The number of cents that `worth` converts.
 * @param until Leaves out amounts that were reserved later; null for no limit.
 * @param releasedBy Leaves out amounts that were released later, but not those still reserved; null for no limit.
 */
export async function listAsked(
  db: Connection,
  places: readonly Place[],
  cents: number,
  { since, until, releasedBy }: AskedBetween,
): Promise<Asked[]> {
  const { rows } = await sql<
    Place & { least: string | null; worth: string | null; rests: string[]; isAwaited: boolean }
  >`
    select place.blockchain_id as "blockchainId", place.address, asked.*
    from unnest(${places.map(({ blockchainId }) => blockchainId)}::text[],
                ${places.map(({ address }) => address)}::text[]) as place (blockchain_id, address)
    cross join lateral (
      select (min(token_amount) filter (where rest_of is null))::text as least,
             (min(trunc(token_amount * ${cents} / amount)) filter (where rest_of is null))::text as worth,
             coalesce(array_agg(token_amount::text) filter (where rest_of is not null), '{}')
               || coalesce(array_agg((token_amount - arrived)::text) filter (where arrived < token_amount), '{}')
               as rests,
             coalesce(bool_or(waits), false) as "isAwaited"
      from (
        select lately.token_amount, rest_of, payments.amount, under.token_amount as arrived,
               released_at is null and payments.status = 'pending'
                 and payments.session_status = 'pending' as waits
        from (
          select * from reservations
          where blockchain_id = place.blockchain_id and address = place.address
            and released_at is null
          union all
          select * from reservations
          where blockchain_id = place.blockchain_id and address = place.address
            and released_at > ${since} and released_at <= coalesce(${releasedBy}::timestamptz, 'infinity')
        ) as lately join payments on payments.id = payment_id
        -- The rest is reserved when the deposit is final, and shown to the payer before.
        left join deposits as under
          on under.payment_id = lately.payment_id and under.blockchain_id = lately.blockchain_id
            and under.outcome = 'under' and under.state in ('seen', 'final') and rest_of is null
        where ${until}::timestamptz is null or reserved_at <= ${until}
      ) as own
    ) as asked`.execute(db);
  return rows.map(({ least, worth, rests, ...row }) => ({
    ...row,
    least: least === null ? null : BigInt(least),
    worth: worth === null ? null : BigInt(worth),
    rests: rests.map(BigInt),
  }));
}

/** A transfer, without its position in the transaction. */
export interface DustTransfer extends Place {
  readonly transactionHash: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
}

/** Whether each of these transfers is recorded as a deposit. */
export async function findRecorded(
  db: Connection,
  transfers: readonly DustTransfer[],
): Promise<boolean[]> {
  if (transfers.length === 0) return [];
  const { rows } = await sql<{ isRecorded: boolean }>`
    select exists (
      select from deposits
      where blockchain_id = given.blockchain_id and transaction_hash = given.hash
        and address = given.address and token_amount = given.amount
    ) as "isRecorded"
    from unnest(${transfers.map(({ blockchainId }) => blockchainId)}::text[],
                ${transfers.map(({ transactionHash }) => transactionHash)}::text[],
                ${transfers.map(({ address }) => address)}::text[],
                ${transfers.map(({ tokenAmount }) => tokenAmount)}::numeric[])
         with ordinality as given (blockchain_id, hash, address, amount, place)
    order by place`.execute(db);
  return rows.map(({ isRecorded }) => isRecorded);
}

/**
 * Counts dust, in the order of the chain. Which transfers were counted is not recorded: call it in the
 * transaction that moves the cursor past them.
 * @param day UTC, YYYY-MM-DD.
 */
export async function addDust(
  db: Connection,
  transfers: readonly DustTransfer[],
  day: string,
): Promise<void> {
  const groups = Map.groupBy(
    transfers,
    ({ blockchainId, address }) => `${blockchainId} ${address}`,
  );
  // In a fixed order, so that two transactions cannot deadlock.
  for (const [, own] of [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) continue;
    await db
      .insertInto('dust')
      .values({
        blockchain_id: first.blockchainId,
        address: first.address,
        day,
        transfers: own.length,
        token_amount: own.reduce((sum, { tokenAmount }) => sum + tokenAmount, 0n),
        first_hash: first.transactionHash,
        last_hash: last.transactionHash,
      })
      .onConflict(conflict =>
        conflict.columns(['day', 'blockchain_id', 'address']).doUpdateSet(({ eb, ref }) => ({
          transfers: eb('dust.transfers', '+', ref('excluded.transfers')),
          token_amount: eb('dust.token_amount', '+', ref('excluded.token_amount')),
          last_hash: ref('excluded.last_hash'),
        })),
      )
      .execute();
  }
}

/** Dust of one address, asset and day. */
export interface DustOfDay extends Place {
  /** UTC, YYYY-MM-DD. */
  day: string;
  transfers: number;
  /** What they amount to, in the asset's smallest unit, as text. */
  tokenAmount: string;
  assetSymbol: string;
  assetDecimals: number;
  firstHash: string;
  lastHash: string;
}

/** The newest day first, and of a day the address with the most transfers. */
export function listDust(db: Connection, limit: number): Promise<DustOfDay[]> {
  return db
    .selectFrom('dust')
    .innerJoin('networks', 'networks.id', 'blockchain_id')
    .select(['day', 'blockchain_id as blockchainId', 'address', 'transfers'])
    .select(['token_amount as tokenAmount', 'asset_symbol as assetSymbol'])
    .select(['asset_decimals as assetDecimals', 'first_hash as firstHash', 'last_hash as lastHash'])
    .orderBy('day', 'desc')
    .orderBy('transfers', 'desc')
    .orderBy('blockchain_id')
    .orderBy('address')
    .limit(limit)
    .execute();
}
