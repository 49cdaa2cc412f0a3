import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { PROMISED_UNTIL } from '../deposits/reservations.ts';
import { hasRow } from '../rows.ts';

/** An address that transfers may arrive at, with its network. */
export interface ListedAddress {
  blockchainId: string;
  /** The token's contract; null for the native asset. */
  contract: string | null;
  address: string;
}

/** More addresses than a chain can have live; a bound for the query, not a limit of the service. */
const ADDRESSES_MAXIMUM = 1_000_000;

/** Addresses of a chain with a live reservation or a deposit that is not final yet. */
export async function listLiveAddresses(db: Connection, chain: string): Promise<ListedAddress[]> {
  const { rows } = await sql<ListedAddress>`
    select live.blockchain_id as "blockchainId", networks.contract, live.address
    from networks cross join lateral (
      select blockchain_id, address from reservations
      where blockchain_id = networks.id and released_at is null
      union
      select blockchain_id, address from deposits
      where blockchain_id = networks.id and state = 'seen' and source = 'chain'
    ) as live
    where networks.chain = ${chain} and networks.settled_by = 'chain'
    limit ${ADDRESSES_MAXIMUM}`.execute(db);
  return rows;
}

/** Addresses of a chain with a reservation that was released after `since`. */
export function listReleasedAddresses(
  db: Connection,
  chain: string,
  since: Date,
): Promise<ListedAddress[]> {
  return db
    .selectFrom('networks')
    .innerJoin('reservations', 'reservations.blockchain_id', 'networks.id')
    .select(['reservations.blockchain_id as blockchainId', 'networks.contract', 'address'])
    .distinct()
    .where('networks.chain', '=', chain)
    .where('networks.settled_by', '=', 'chain')
    .where('released_at', '>', since)
    .limit(ADDRESSES_MAXIMUM)
    .execute();
}

/** Addresses of wallets on a chain at which a payment gave up an amount after `since`, and when the last one did. */
export async function listWalletAddresses(
  db: Connection,
  chain: string,
  since: Date,
): Promise<(ListedAddress & { releasedAt: Date })[]> {
  const { rows } = await sql<ListedAddress & { releasedAt: Date }>`
    select networks.id as "blockchainId", networks.contract, reservations.address,
      max(released_at) as "releasedAt"
    from networks join reservations on reservations.blockchain_id = networks.id
    join wallet_addresses using (blockchain_id, address)
    where networks.chain = ${chain} and networks.settled_by = 'chain' and released_at > ${since}
      and exists (select from wallets where wallets.blockchain_id = networks.id)
    group by 1, 2, 3
    limit ${ADDRESSES_MAXIMUM}`.execute(db);
  return rows;
}

/** Every address on a network that a branch has, or that an open payment has reserved an amount at. */
export async function listConfiguredAddresses(
  db: Connection,
  blockchainId: string,
): Promise<ListedAddress[]> {
  const { rows } = await sql<ListedAddress>`
    select own.blockchain_id as "blockchainId", networks.contract, own.address
    from networks cross join lateral (
      select blockchain_id, address from deposit_addresses where blockchain_id = networks.id
      union
      select blockchain_id, address from wallet_addresses where blockchain_id = networks.id
      union
      select blockchain_id, address from reservations
      where blockchain_id = networks.id and released_at is null
    ) as own
    where networks.id = ${blockchainId}
    limit ${ADDRESSES_MAXIMUM}`.execute(db);
  return rows;
}

/** When the oldest reservation was made that a transfer may still pay; null if there is none. */
export async function findOldestReservation(
  db: Connection,
  chain: string,
  releasedSince: Date,
): Promise<Date | null> {
  const { oldest } = await db
    .selectFrom('reservations')
    .innerJoin('networks', 'networks.id', 'reservations.blockchain_id')
    .select(({ fn }) => fn.min<Date | null>('reserved_at').as('oldest'))
    .where('networks.chain', '=', chain)
    .where(({ eb, or }) =>
      or([eb('released_at', 'is', null), eb('released_at', '>', releasedSince)]),
    )
    .executeTakeFirstOrThrow();
  return oldest;
}

/** Whether a payment that waits for the chain's native asset expires, or loses its quote, before `before`. */
export async function hasExpiringPayment(
  db: Connection,
  blockchainId: string,
  before: Date,
): Promise<boolean> {
  const query = db
    .selectFrom('payments')
    .select('id')
    .where('flow', '=', 'crypto')
    .where('status', '=', 'pending')
    .where('session_status', '=', 'pending')
    .where(({ eb, or }) => or([eb('expires_at', '<', before), eb('quoted_until', '<', before)]))
    .where('blockchain_id', '=', blockchainId);
  return hasRow(query);
}

/** An address on a network, and when a payment or a quote there ends. */
interface EndingPlace {
  blockchainId: string;
  address: string;
  endsAt: Date;
}

/** Longest time for which networks promise a price, in minutes; the constraint of `window_minutes`. */
const WINDOW_MAXIMUM_MINUTES = 1_440;

/**
 * Where payments on a chain end, or lose a quote, after `after` and by `by`: the first `limit` of them. A quote that a
 * customer has left for another network, or for another price, ends with its window.
 * @param after null for any time.
 */
export async function listEndingPlaces(
  db: Connection,
  chain: string,
  { after, by }: { readonly after: Date | null; readonly by: Date },
  limit: number,
): Promise<EndingPlace[]> {
  const since = after ?? new Date(0);
  const { rows } = await sql<EndingPlace>`
    select networks.id as "blockchainId", ending.address, ending.ends_at as "endsAt"
    from networks cross join lateral (
      (select address, expires_at as ends_at from payments
       where coalesce(blockchain_id, '') = networks.id and expires_at > ${since} and expires_at <= ${by}
         and flow = 'crypto' and status = 'pending' and session_status = 'pending'
       order by expires_at limit ${limit})
      union
      (select address, quoted_until as ends_at from payments
       where blockchain_id = networks.id and quoted_until > ${since} and quoted_until <= ${by}
         and status = 'pending' and session_status = 'pending'
       order by quoted_until limit ${limit})
      union
      (select former.address, least(${PROMISED_UNTIL('former')}, payments.expires_at) as ends_at
       from reservations as former join payments on payments.id = former.payment_id
       where former.blockchain_id = networks.id
         and released_at > ${since}::timestamptz - make_interval(mins => ${WINDOW_MAXIMUM_MINUTES})
         and payments.status = 'pending' and payments.session_status = 'pending'
         and least(${PROMISED_UNTIL('former')}, payments.expires_at) > ${since}
         and least(${PROMISED_UNTIL('former')}, payments.expires_at) <= ${by}
       order by ends_at limit ${limit})
    ) as ending
    where networks.chain = ${chain}
    order by ending.ends_at limit ${limit}`.execute(db);
  return rows;
}
