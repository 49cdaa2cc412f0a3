import { type RawBuilder, sql } from 'kysely';
import type { AddressHoldersTable } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';

/** An address on all chains of a family. */
export type HeldAddress = Pick<AddressHoldersTable, 'family' | 'environment' | 'address'>;

/** A merchant that an address belongs to, or that an operator has admitted to it. */
export interface AddressHolder {
  readonly merchantId: string;
  /** The merchant beside which an operator admitted this one; null for the merchant that it belongs to. */
  readonly sharedWith: string | null;
  /** Since when it is not in force any more; null for one that is, or was removed by an older release. */
  readonly leftAt: Date | null;
  /** Whether it is in force for this merchant, or waits to be. */
  readonly isInForce: boolean;
  /** Whether a payer was asked to pay there since this merchant has held it. */
  readonly isShown: boolean;
  /** Whether a payer is asked to pay there now. */
  readonly isQuoted: boolean;
  /** When a request to pay there last ended; null for never. */
  readonly quotedUntil: Date | null;
}

/** The address on all chains of the family of a network; undefined for an unknown network. */
export function findHeldAddress(
  db: Connection,
  blockchainId: string,
  address: string,
): Promise<HeldAddress | undefined> {
  return db
    .selectFrom('networks')
    .innerJoin('chains', 'chains.id', 'networks.chain')
    .select(({ val }) => ['chains.family', 'environment', val(address).as('address')])
    .where('networks.id', '=', blockchainId)
    .executeTakeFirst();
}

const isOf = ({ family, environment, address }: HeldAddress): RawBuilder<unknown> => sql`
  held.family = ${family} and held.environment = ${environment} and held.address = ${address}`;

/** Networks on which an address of `held` is the same. */
const SAME_NETWORKS = sql`
  networks join chains on chains.id = networks.chain
  and chains.family = held.family and networks.environment = held.environment`;

/** Whether an address is in force for its holder, a row of `address_holders` as `held`, or waits to be. */
export const IS_IN_FORCE = sql<boolean>`(
  exists (
    select from ${SAME_NETWORKS}
    join deposit_addresses as own on own.blockchain_id = networks.id and own.address = held.address
    join branches on branches.id = own.branch_id and branches.merchant_id = held.merchant_id
  ) or exists (
    select from ${SAME_NETWORKS}
    join address_changes as change on change.blockchain_id = networks.id
    where change.merchant_id = held.merchant_id and change.address = held.address
      and outcome is null and coalesce(ended_at, 'infinity') = 'infinity'
  ) or exists (
    select from ${SAME_NETWORKS}
    join wallet_addresses as derived
      on derived.blockchain_id = networks.id and derived.address = held.address
    join wallets on wallets.id = derived.wallet_id and wallets.merchant_id = held.merchant_id
    where wallets.left_at is null
  ))`;

/** Locks the holders of an address, so that what the next statement reads of them cannot change. */
export async function lockAddressHolders(db: Connection, held: HeldAddress): Promise<void> {
  await sql`
    select from address_holders as held where ${isOf(held)}
    order by merchant_id for update`.execute(db);
}

/** The holders of an address: first the one that it belongs to, then those that an operator has admitted. */
export async function listAddressHolders(
  db: Connection,
  held: HeldAddress,
): Promise<AddressHolder[]> {
  const { rows } = await sql<AddressHolder>`
    select held.merchant_id as "merchantId", shared_with as "sharedWith", left_at as "leftAt",
      ${IS_IN_FORCE} as "isInForce",
      quotes."isShown", quotes."isQuoted", quotes."quotedUntil"
    from address_holders as held cross join lateral (
      select coalesce(bool_or((
               select reserved_at from reservations
               where blockchain_id = networks.id and address = held.address order by id desc limit 1
             ) >= held_since), false) as "isShown",
             coalesce(bool_or(exists (
               select from reservations
               where blockchain_id = networks.id and address = held.address and released_at is null
             )), false) as "isQuoted",
             max((
               select max(released_at) from reservations
               where blockchain_id = networks.id and address = held.address
             )) as "quotedUntil"
      from ${SAME_NETWORKS}
    ) as quotes
    where ${isOf(held)}
    order by shared_with is not null, held_since, held.merchant_id`.execute(db);
  return rows;
}

/**
 * Lets a merchant hold an address. Waits for concurrent attempts.
 * @param sharedWith A merchant that has it; null if nobody does.
 * @returns False if another merchant holds it.
 */
export async function insertAddressHolder(
  db: Connection,
  { family, environment, address }: HeldAddress,
  merchantId: string,
  sharedWith: string | null,
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('address_holders')
    .values({
      family,
      environment,
      address,
      merchant_id: merchantId,
      shared_with: sharedWith,
      held_since: now,
    })
    .onConflict(conflict => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Records since when an address is not in force for a merchant; null for one that is again. */
export async function markAddressLeft(
  db: Connection,
  held: HeldAddress,
  merchantId: string,
  leftAt: Date | null,
): Promise<void> {
  await sql`
    update address_holders as held set left_at = ${leftAt}
    where ${isOf(held)} and merchant_id = ${merchantId}`.execute(db);
}

/**
 * Takes an address from a merchant.
 * @param heir Another holder, to which the address belongs from now on; null for nobody.
 */
export async function deleteAddressHolder(
  db: Connection,
  held: HeldAddress,
  merchantId: string,
  heir: string | null,
  now: Date,
): Promise<void> {
  await sql`
    delete from address_holders as held where ${isOf(held)} and merchant_id = ${merchantId}`.execute(
    db,
  );
  if (heir === null) return;
  await sql`
    update address_holders as held set shared_with = nullif(${heir}::uuid, merchant_id)
    where ${isOf(held)}`.execute(db);
  const { family, environment, address } = held;
  await sql`select begin_address_period(${family}, ${environment}, ${address}, ${now})`.execute(db);
}

/** Whether a merchant holds an address. */
export async function isAddressHolder(
  db: Connection,
  held: HeldAddress,
  merchantId: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from address_holders as held where ${isOf(held)} and merchant_id = ${merchantId}`.execute(
    db,
  );
  return rows.length > 0;
}

/** Whether another merchant has the address too, a row of `address_holders` as `own`. */
const IS_SHARED = sql`
  exists (
    select from address_holders as other
    where other.family = own.family and other.environment = own.environment
      and other.address = own.address and other.merchant_id <> own.merchant_id)`;

/** Addresses of a merchant that another one has too, as a value for a statement: a list of texts. */
export const sharedAddresses = (merchantId: string): RawBuilder<string[]> => sql`
  array(
    select distinct own.address from address_holders as own
    where own.merchant_id = ${merchantId} and ${IS_SHARED} order by own.address)`;

/** Addresses of a merchant that another one has too (at most 20 for each branch and network). */
export async function listSharedAddresses(db: Connection, merchantId: string): Promise<string[]> {
  const { rows } = await sql<{ addresses: string[] }>`
    select ${sharedAddresses(merchantId)} as addresses`.execute(db);
  return rows[0]?.addresses ?? [];
}
