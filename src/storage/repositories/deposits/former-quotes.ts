import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import { PROMISED_UNTIL, type Slot } from './reservations.ts';

/** The whole amount that a payment asked for last on a network, before it got another quote. */
export async function findFormerQuote(
  db: Connection,
  paymentId: string,
  blockchainId: string,
): Promise<{ address: string; tokenAmount: bigint } | undefined> {
  const row = await db
    .selectFrom('reservations')
    .select(['address', 'token_amount'])
    .where('payment_id', '=', paymentId)
    .where('released_at', 'is not', null)
    .where('blockchain_id', '=', blockchainId)
    .where('rest_of', 'is', null)
    // Amounts of the previous release may be what a wallet cuts another payment's amount to.
    .where('cut_from', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { address: row.address, tokenAmount: BigInt(row.token_amount) };
}

/** The rest that was asked for after an underpayment, before the payment got another quote. */
export async function findFormerRest(
  db: Connection,
  paymentId: string,
  depositId: string,
): Promise<bigint | undefined> {
  const row = await db
    .selectFrom('reservations')
    .select('token_amount')
    .where('payment_id', '=', paymentId)
    .where('released_at', 'is not', null)
    .where('rest_of', '=', depositId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && BigInt(row.token_amount);
}

/** What a payment asked for at the address where a deposit arrived. */
interface AskedBefore {
  /** The whole amount, an integer of the asset's smallest unit. */
  readonly tokenAmount: string;
  /** Smallest amount that settles it if a wallet has cut off decimals; null if only the whole amount does. */
  readonly cutFrom: string | null;
  /** Of the asset. */
  readonly decimals: number;
  readonly reservedAt: Date;
  /** Until when the price was promised. */
  readonly promisedUntil: Date;
  /** IDs of the reservation of the whole amount, and of the rest that the deposit pays, if it pays one. */
  readonly reservations: readonly string[];
}

/**
 * What a payment last asked for at a deposit's address. If the deposit is exactly a whole amount or a rest that the
 * payment asked for, it is that whole amount, or the rest and its whole amount.
 */
export async function findAskedBefore(
  db: Connection,
  paymentId: string,
  {
    blockchain_id: blockchainId,
    address,
    token_amount: amount,
    outcome,
  }: Pick<Deposit, 'blockchain_id' | 'address' | 'token_amount' | 'outcome'>,
): Promise<AskedBefore | undefined> {
  const { rows } = await sql<AskedBefore>`
    with own as (
      select * from reservations
      where payment_id = ${paymentId} and released_at is null
        and blockchain_id = ${blockchainId} and address = ${address}
      union all
      select * from reservations
      where payment_id = ${paymentId} and released_at is not null
        and blockchain_id = ${blockchainId} and address = ${address}
    ), rest as (
      select id from own
      where ${outcome} = 'rest' and rest_of is not null and token_amount = ${amount}::numeric
      order by id desc limit 1
    )
    select own.token_amount as "tokenAmount", own.cut_from as "cutFrom",
           networks.asset_decimals as decimals,
           own.reserved_at as "reservedAt", ${PROMISED_UNTIL('own')} as "promisedUntil",
           array_remove(array[own.id, rest.id], null)::bigint[]::text[] as reservations
    from own join networks on networks.id = own.blockchain_id
    left join rest on true
    where own.rest_of is null and (rest.id is null or own.id < rest.id)
      and (${outcome} <> 'exact' or own.token_amount = ${amount}::numeric)
    order by own.id desc limit 1`.execute(db);
  return rows[0];
}

/** Other places where a payment asked for something before, by networks and addresses; at most 100. */
export async function listPlacesElsewhere(
  db: Connection,
  paymentId: string,
  { blockchainId, address }: Omit<Slot, 'tokenAmount'>,
): Promise<Omit<Slot, 'tokenAmount'>[]> {
  const { rows } = await sql<Omit<Slot, 'tokenAmount'>>`
    select distinct blockchain_id as "blockchainId", address from reservations
    where payment_id = ${paymentId} and released_at is not null
      and (blockchain_id, address) <> (${blockchainId}, ${address})
    order by 1, 2 limit 100`.execute(db);
  return rows;
}

/**
 * Reserves released amounts again, with their original time and thus their original price. Amounts that another payment
 * has reserved meanwhile stay with that payment.
 */
export async function reserveAgain(db: Connection, ids: readonly string[]): Promise<void> {
  await sql`
    insert into reservations (payment_id, blockchain_id, address, token_amount, reserved_at, rest_of,
                              cut_from, alone_from)
    select payment_id, blockchain_id, address, token_amount, reserved_at, rest_of, cut_from, alone_from
    from reservations where id = any(${ids}::bigint[]) order by id
    on conflict (blockchain_id, address, token_amount) where released_at is null do nothing`.execute(
    db,
  );
}
