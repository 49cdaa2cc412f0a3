import { sql } from 'kysely';
import type { Wallet } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import { findById, insertInto, lockById, updateByIdOrThrow } from '../rows.ts';
import { type AddressHolder, IS_IN_FORCE } from './address-holders.ts';

export const findWallet = findById('wallets');
/** Locks a wallet until the transaction ends; the next statement sees what was committed before. */
export const lockWallet = lockById('wallets', 'forNoKeyUpdate');
export const insertWallet = insertInto('wallets');
export const updateWallet = updateByIdOrThrow('wallets');

/** Locks the wallet of a key, whoever has it; undefined if nobody has. */
export function lockWalletOf(
  db: Connection,
  blockchainId: string,
  digest: string,
): Promise<Wallet | undefined> {
  return db
    .selectFrom('wallets')
    .selectAll()
    .where('blockchain_id', '=', blockchainId)
    .where('digest', '=', digest)
    .where('released_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** What is known of a merchant's hold on a wallet, as for an address. */
export async function findWalletHolder(
  db: Connection,
  walletId: string,
): Promise<AddressHolder | undefined> {
  const { rows } = await sql<AddressHolder>`
    select own.merchant_id as "merchantId", null as "sharedWith", left_at as "leftAt",
      left_at is null as "isInForce", quotes.*
    from wallets as own cross join lateral (
      select count(*) > 0 as "isShown", coalesce(bool_or(released_at is null), false) as "isQuoted",
        max(released_at) as "quotedUntil"
      from wallet_addresses join reservations using (blockchain_id, address)
      where wallet_id = own.id
    ) as quotes
    where own.id = ${walletId}`.execute(db);
  return rows[0];
}

/** A wallet of a merchant, with an address; undefined if it is none of those that are derived already. */
export async function findWalletAt(
  db: Connection,
  merchantId: string,
  blockchainId: string,
  address: string,
): Promise<Wallet | undefined> {
  return db
    .selectFrom('wallets')
    .innerJoin('wallet_addresses', 'wallet_id', 'wallets.id')
    .selectAll('wallets')
    .where('merchant_id', '=', merchantId)
    .where('wallet_addresses.blockchain_id', '=', blockchainId)
    .where('address', '=', address)
    .where('released_at', 'is', null)
    .executeTakeFirst();
}

/** Takes a wallet from its merchant, and those of its addresses that are not in force otherwise. */
export async function releaseWallet(db: Connection, walletId: string, now: Date): Promise<void> {
  await updateWallet(db, walletId, { released_at: now });
  await sql`
    delete from address_holders as held
    using wallets as own join wallet_addresses as derived on wallet_id = own.id
      join networks on networks.id = own.blockchain_id join chains on chains.id = networks.chain
    where own.id = ${walletId} and held.merchant_id = own.merchant_id
      and held.family = chains.family and held.environment = networks.environment
      and held.address = derived.address and not ${IS_IN_FORCE} and not exists (
        select from address_holders as other
        where other.family = held.family and other.environment = held.environment
          and other.address = held.address and other.merchant_id <> held.merchant_id)`.execute(db);
}

/** Lets the merchant of a wallet that had left it hold its addresses again, but those that others hold by now. */
export async function holdWalletAddresses(
  db: Connection,
  walletId: string,
  now: Date,
): Promise<void> {
  await sql`
    select note_address_of(own.merchant_id, own.blockchain_id, derived.address, ${now})
    from wallets as own join wallet_addresses as derived on wallet_id = own.id
      join networks on networks.id = own.blockchain_id join chains on chains.id = networks.chain
    where own.id = ${walletId} and not exists (
      select from address_holders as held
      where held.family = chains.family and held.environment = networks.environment
        and held.address = derived.address and held.merchant_id <> own.merchant_id)
    order by index`.execute(db);
}

/** Records since when no branch has a wallet, unless one has it or waits for it; null for one that is proposed. */
export async function markWalletLeft(
  db: Connection,
  walletId: string,
  leftAt: Date | null,
): Promise<void> {
  await sql`
    update wallets set left_at = ${leftAt}
    where id = ${walletId} and (${leftAt}::timestamptz is null or not exists (
      select from deposit_addresses where wallet_id = wallets.id) and not exists (
      select from address_changes where wallet_id = wallets.id and outcome is null))`.execute(db);
}
