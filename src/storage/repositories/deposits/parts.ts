import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Place } from './dust.ts';
import { PROMISED_UNTIL } from './reservations.ts';

/** What has arrived at a payment's own address; all amounts in the asset's smallest unit. */
export interface Parts {
  /** The whole amount that the payment asks for. */
  readonly whole: bigint;
  /** The smallest sum that settles the payment. */
  readonly settlesFrom: bigint;
  /** The sum of what was seen or is final. */
  readonly arrived: bigint;
  readonly final: bigint;
  /** Transaction of the latest transfer that completed the sum; null for none. */
  readonly completing: string | null;
}

type Row = 'asked' | 'deposits';

const isOfWallet = (row: Row) => sql<boolean>`
  exists (
    select from wallet_addresses
    where wallet_addresses.blockchain_id = ${sql.ref(row)}.blockchain_id
      and wallet_addresses.address = ${sql.ref(row)}.address)`;

const isAlone = (row: Row, paymentId: string | RawBuilder<string>) => sql<boolean>`
  not exists (
    select from reservations as other
    where other.blockchain_id = ${sql.ref(row)}.blockchain_id
      and other.address = ${sql.ref(row)}.address and other.payment_id <> ${paymentId})`;

/** Whether a row's address is of a wallet, and no other payment than the given one was ever asked to pay there. */
export const isOwnAddress = (row: Row, paymentId: string) =>
  sql<boolean>`(${isOfWallet(row)} and ${isAlone(row, paymentId)})`;

/**
 * What has arrived for a payment at an address of a wallet that no other payment was ever asked to pay to: there, parts
 * add up. undefined at any other address.
 * @param areAdded Whether parts that have completed the payment stay added up, though another payment was asked to pay
 * there since: until all of them are final, any may be undone.
 */
export async function findParts(
  db: Connection,
  paymentId: string,
  { blockchainId, address }: Place,
  areAdded = false,
): Promise<Parts | undefined> {
  const { rows } = await sql<{ [K in keyof Parts]: string } & Pick<Parts, 'completing'>>`
    select asked.token_amount as whole,
      least(asked.token_amount, asked.cut_from, asked.alone_from,
            asked.token_amount - trunc(asked.token_amount * underpayment_tolerance_bps / 10000))
        as "settlesFrom", parts.*
    from (
      select * from reservations
      where payment_id = ${paymentId} and blockchain_id = ${blockchainId} and address = ${address}
        and rest_of is null
      order by id desc limit 1
    ) as asked
    join payments on payments.id = asked.payment_id
    join merchants on merchants.id = payments.merchant_id
    cross join lateral (
      select coalesce(sum(token_amount), 0) as arrived,
        coalesce(sum(token_amount) filter (where state = 'final'), 0) as final,
        (array_agg(transaction_hash order by observed_at desc, id desc)
         filter (where outcome = 'rest'))[1] as completing
      from deposits
      where payment_id = ${paymentId} and state in ('seen', 'final')
        and deposits.blockchain_id = asked.blockchain_id and deposits.address = asked.address
    ) as parts
    where ${isOfWallet('asked')} and (
      ${isAlone('asked', paymentId)}
      -- A last part has no amount of its own reserved, unlike a rest elsewhere.
      or ${areAdded} and completing is not null and not exists (
        select from reservations as rest
        where rest.payment_id = asked.payment_id and rest_of is not null
          and rest.blockchain_id = asked.blockchain_id and rest.address = asked.address))`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    whole: BigInt(row.whole),
    settlesFrom: BigInt(row.settlesFrom),
    arrived: BigInt(row.arrived),
    final: BigInt(row.final),
    completing: row.completing,
  };
}

/**
 * The payment that alone was ever asked to pay at an address of a wallet, and until when its latest price there was
 * promised; undefined at any other address, and if it was not asked until then.
 */
export async function findOnlyAsked(
  db: Connection,
  { blockchainId, address }: Place,
  at: Date,
): Promise<{ readonly paymentId: string; readonly promisedUntil: Date } | undefined> {
  const { rows } = await sql<{ paymentId: string; promisedUntil: Date }>`
    select latest.* from (
      -- First, so that the many payments of a static address are not read.
      select from wallet_addresses
      where blockchain_id = ${blockchainId} and address = ${address} limit 1
    ) as own cross join lateral (
      select payment_id as "paymentId", ${PROMISED_UNTIL('asked')} as "promisedUntil"
      from reservations as asked join networks on networks.id = asked.blockchain_id
      where asked.blockchain_id = ${blockchainId} and asked.address = ${address}
        and rest_of is null and reserved_at <= ${at}
        and ${isAlone('asked', sql.ref('asked.payment_id'))}
      order by asked.id desc limit 1
    ) as latest`.execute(db);
  return rows[0];
}

/** Marks the transfers that completed a payment as parts again, since what arrived before them is undone. */
export async function reopenParts(
  db: Connection,
  paymentId: string,
  { blockchainId, address }: Place,
): Promise<void> {
  await db
    .updateTable('deposits')
    .set({ outcome: 'under' })
    .where('payment_id', '=', paymentId)
    .where('blockchain_id', '=', blockchainId)
    .where('address', '=', address)
    .where('outcome', '=', 'rest')
    .where('state', 'in', ['seen', 'final'])
    .execute();
}
