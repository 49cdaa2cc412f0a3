import { type RawBuilder, sql } from 'kysely';
import type { Wallet } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { UsedAddress } from '../deposits/free-amounts.ts';

/** How many addresses in a row may be unfunded, so that wallets, which look at 20, find what arrives at the last. */
export const GAP_MAXIMUM = 18;

/** Open payments that may be at one wallet: a bound for a query, not a limit of the service. */
const EMPTY_MAXIMUM = 1_000;

/** The index of a row's address in the wallet that it was derived from; null for any other address. */
export const derivationIndexOf = (row: 'deposits' | 'listed' | 'paid') => sql<number | null>`(
  select index from wallet_addresses
  where wallet_addresses.blockchain_id = ${sql.ref(row)}.blockchain_id
    and wallet_addresses.address = ${sql.ref(row)}.address limit 1)`;

/** The index of one of a wallet's addresses; undefined if it is none of those that are derived already. */
export async function findWalletIndex(
  db: Connection,
  walletId: string,
  address: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('wallet_addresses')
    .select('index')
    .where('wallet_id', '=', walletId)
    .where('address', '=', address)
    .executeTakeFirst();
  return row?.index;
}

/** Addresses of a wallet from an index on, of those that are derived already. */
export async function listAddressesFrom(
  db: Connection,
  walletId: string,
  index: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('wallet_addresses')
    .select('address')
    .where('wallet_id', '=', walletId)
    .where('index', '>=', index)
    .orderBy('index')
    .limit(limit)
    .execute();
  return rows.map(({ address }) => address);
}

/** The index of the last address with a transfer in a block, or else the one before the first; of `own`. */
const LAST_FUNDED: RawBuilder<number> = sql`
  greatest(own.first_index - 1, coalesce((
    select max(index) from wallet_addresses where wallet_id = own.id and is_funded), -1))`;

/** Wallets in use that have fewer addresses in stock than `ahead` behind the last funded one. */
export async function listShortWallets(
  db: Connection,
  ahead: number,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select own.id from wallets as own
    where released_at is null and left_at is null
      and not exists (
        select from wallet_addresses
        where wallet_id = own.id and index >= ${LAST_FUNDED} + ${ahead})
    order by own.id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** The indices of a wallet up to `ahead` behind the last funded one that are not derived yet. */
export async function listMissingIndices(
  db: Connection,
  walletId: string,
  ahead: number,
): Promise<number[]> {
  const { rows } = await sql<{ index: number }>`
    select series.index from wallets as own
    cross join lateral generate_series(own.first_index, ${LAST_FUNDED} + ${ahead}) as series (index)
    where own.id = ${walletId} and not exists (
      select from wallet_addresses where wallet_id = own.id and wallet_addresses.index = series.index)
    order by 1`.execute(db);
  return rows.map(({ index }) => index);
}

/**
 * Stores addresses of a wallet, and lets its merchant hold them. Leaves out those that another merchant holds: nobody is
 * asked to pay there.
 */
export async function insertWalletAddresses(
  db: Connection,
  { id, blockchain_id, merchant_id }: Wallet,
  addresses: readonly { readonly index: number; readonly address: string }[],
): Promise<void> {
  await sql`
    insert into wallet_addresses (wallet_id, index, blockchain_id, address, received_at, is_funded)
    select ${id}, index, ${blockchain_id}, address, before.received_at, coalesce(before.is_funded, false)
    from unnest(${addresses.map(({ index }) => index)}::integer[],
                ${addresses.map(({ address }) => address)}::text[]) as derived (index, address)
    cross join lateral (
      select min(observed_at) as received_at,
        bool_or(state = 'final' or block_height is not null) as is_funded
      from deposits
      where deposits.blockchain_id = ${blockchain_id} and deposits.address = derived.address
        and state in ('seen', 'final') and source <> 'simulation'
    ) as before
    where not exists (
      select from address_holders as held join networks on networks.id = ${blockchain_id}
      join chains on chains.id = networks.chain
      where held.family = chains.family and held.environment = networks.environment
        and held.address = derived.address and held.merchant_id <> ${merchant_id})
    order by index
    on conflict do nothing`.execute(db);
}

/**
 * The addresses of a wallet that a payment may be asked to pay to, in order of preference: the one that it had before;
 * those that no other payment has, or had within the late window, the lowest index first; then those with the fewest
 * open payments, and of these preferably one that several had already, so that no more payments lose the sum of their
 * parts. None at which something has arrived for others, none that the merchant does not hold any more, and none
 * behind the gap that wallets look over.
 *
 * Call it with the wallet locked, so that no two payments get one address while another is free.
 * @param lateSince Quotes that ended since then still count as had.
 */
export async function listWalletAddressesByUse(
  db: Connection,
  walletId: string,
  {
    paymentId,
    range,
    lateSince,
  }: {
    readonly paymentId: string;
    readonly range: { readonly from: bigint; readonly to: bigint };
    readonly lateSince: Date;
  },
): Promise<UsedAddress[]> {
  const { rows } = await sql<UsedAddress>`
    select candidate.address, quotes.reserved
    from wallets as own cross join lateral (
      (select index, address from wallet_addresses
       where wallet_id = own.id and received_at is null
         and index between own.first_index and ${LAST_FUNDED} + ${GAP_MAXIMUM}
       order by index limit ${EMPTY_MAXIMUM})
      union
      select index, address from reservations
      join wallet_addresses using (blockchain_id, address)
      where payment_id = ${paymentId} and wallet_id = own.id
    ) as candidate cross join lateral (
      select coalesce(bool_or(payment_id = ${paymentId}), false) as is_own,
        count(*) filter (where payment_id <> ${paymentId} and released_at is null) as open,
        coalesce(bool_or(released_at is null or released_at > ${lateSince})
                 filter (where payment_id <> ${paymentId}), false) as is_taken,
        count(distinct payment_id) filter (where payment_id <> ${paymentId}) > 1 as is_shared,
        (count(*) filter (
          where released_at is null and token_amount between ${range.from.toString()}::numeric
            and ${range.to.toString()}::numeric))::integer as reserved
      from reservations
      where reservations.blockchain_id = own.blockchain_id
        and reservations.address = candidate.address
    ) as quotes
    where own.id = ${walletId} and exists (
      select from address_holders as held join networks on networks.id = own.blockchain_id
      join chains on chains.id = networks.chain
      where held.family = chains.family and held.environment = networks.environment
        and held.address = candidate.address and held.merchant_id = own.merchant_id)
    order by not is_own, is_taken, case when is_taken then open end, is_taken and not is_shared, index`.execute(
    db,
  );
  return rows;
}

/** How a wallet stands. */
export interface WalletUse {
  readonly id: string;
  readonly kind: Wallet['kind'];
  readonly fingerprint: string;
  /** The index of the next address that a payment would get, unless all are out. */
  readonly nextIndex: number;
  /** Addresses that open payments are asked to pay to. */
  readonly out: number;
  /** Addresses with a transfer in a block. */
  readonly funded: number;
  /** Addresses in a row, behind the last funded one, that were ever asked for. */
  readonly gap: number;
  readonly gapMaximum: number;
}

/**
 * How wallets stand, which `own` is to be limited to.
 * @param lateSince As in `listWalletAddressesByUse`.
 */
export const walletUses = (lateSince: Date): RawBuilder<WalletUse> => sql`
    select own.id, own.kind, own.fingerprint, used.out, used.funded,
      coalesce(used.next, used.last + 1) as "nextIndex",
      greatest(used.last - ${LAST_FUNDED}, 0)::integer as gap, ${GAP_MAXIMUM}::integer as "gapMaximum"
    from wallets as own cross join lateral (
      select (count(*) filter (where is_open))::integer as out,
        (count(*) filter (where is_funded))::integer as funded,
        min(index) filter (where not is_taken and received_at is null and index >= own.first_index) as next,
        coalesce(max(index) filter (where is_shown), own.first_index - 1) as last
      from wallet_addresses cross join lateral (
        select count(*) > 0 as is_shown, coalesce(bool_or(released_at is null), false) as is_open,
          coalesce(bool_or(released_at is null or released_at > ${lateSince}), false) as is_taken
        from reservations
        where reservations.blockchain_id = own.blockchain_id
          and reservations.address = wallet_addresses.address
      ) as quotes
      where wallet_id = own.id
    ) as used`;

/** How these wallets stand. */
export async function listWalletUses(
  db: Connection,
  ids: readonly string[],
  lateSince: Date,
): Promise<WalletUse[]> {
  const { rows } = await sql<WalletUse>`
    ${walletUses(lateSince)} where own.id = any(${ids}::uuid[])
    order by own.id`.execute(db);
  return rows;
}
