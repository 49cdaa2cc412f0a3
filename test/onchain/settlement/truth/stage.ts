import { bech32 } from '@scure/base';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database } from '#storage/database/connection.ts';
import { sessionConfig } from '#storage/database/session.ts';
import { allowSimulation } from '#storage/repositories/simulated-services.ts';
import { CHAINS, GROUP, NETWORKS, SIMULATED, type Step } from './course.ts';
import type { History } from './history.ts';
import { type Lane, openLane, openPool } from './lane.ts';
import type { Payee } from './played.ts';

/** Concurrent transactions of the histories that do not share the lane. */
const POOL_SIZE = 8;

/**
 * Indexes that serve lists, reports and the watchers' own queries, and nothing that is played here. With them, writes
 * take three times as long.
 */
const UNUSED = [
  ...['payments_list', 'payments_list_reference', 'payments_due', 'payments_inquiries'],
  ...['payments_paid', 'payments_partner', 'payments_partner_status', 'payments_partner_merchant'],
  ...['payments_partner_blockchain', 'payments_partner_address', 'payments_partner_text'],
  ...['deposits_hash', 'deposits_settled', 'deposits_unsettled', 'deposits_unmatched'],
  ...['events_payment', 'payment_transitions_payment', 'reservations_released'],
];

/** A database in which one group of histories at a time is played. */
export interface Stage {
  /** A worker's connections. */
  readonly db: Database;
  readonly lane: Lane;
  /** One for each history of a group, then one of a second merchant for each, then a second one of each first merchant. */
  readonly branches: readonly Payee[];
  /** Windows of the networks, in milliseconds. */
  readonly windows: ReadonlyMap<string, number>;
  /** Removes what was played before, and sets up a branch for each history. */
  prepare(histories: readonly History[]): Promise<void>;
  /** Sets how far each chain has been scanned, before a step or after it. */
  watch(step: Step, when: 'before' | 'until'): Promise<void>;
  close(): Promise<void>;
}

/** @param url Of a migrated database that nothing else uses; playing a second group requires a superuser. */
export async function openStage(url: string): Promise<Stage> {
  const db = openPool(url, POOL_SIZE);
  const lane = await openLane(url);
  // Deletes from tables that no role may delete from, and changes accounts without notifying anybody.
  const cleaner = new pg.Client(sessionConfig({ url, applicationName: 'truth-cleaner' }));
  await cleaner.connect();
  await cleaner.query(`drop index if exists ${UNUSED.join(', ')}`);
  // One of the chains is simulated.
  await allowSimulation(db, new Date());
  await sql`
    update networks set is_active = true, settled_by = case chain when ${SIMULATED} then 'simulation' else 'chain' end
    where id = any(${[...NETWORKS]}::text[])`.execute(db);
  const { rows: branches } = await cleaner.query<Payee>(
    `with merchant as (
       insert into merchants (id, name, email, account_kind, onboarding_status, settlement_model,
                              commission_payer, commission_bps, created_at)
       select gen_random_uuid(), 'Shop', 'shop@example.com', 'standard', 'approved', 'direct',
              'merchant', 0, now()
       from generate_series(1, ${2 * GROUP}) returning id)
     insert into branches (id, merchant_id, name, is_main, created_at)
     select gen_random_uuid(), id, 'Main', true, now() from merchant
     returning merchant_id as "merchantId", id as "branchId"`,
  );
  const { rows: others } = await cleaner.query<Payee>(
    `insert into branches (id, merchant_id, name, is_main, created_at)
     select gen_random_uuid(), id, 'Other', false, now() from unnest($1::uuid[]) as id
     returning merchant_id as "merchantId", id as "branchId"`,
    [branches.slice(0, GROUP).map(({ merchantId }) => merchantId)],
  );
  branches.push(...others);
  let isUsed = false;
  const networks = await db.selectFrom('networks').select(['id', 'window_minutes']).execute();
  return {
    db,
    lane,
    branches,
    windows: new Map(networks.map(({ id, window_minutes: minutes }) => [id, minutes * 60_000])),
    async prepare(histories) {
      // Operators share addresses one at a time, which would take longer than all that is played.
      await cleaner.query('set session_replication_role = replica');
      if (isUsed)
        await cleaner.query(
          'truncate payments, payment_transitions, reservations, deposits, events, audit_log, deposit_addresses, account_addresses, address_holders, wallets, findings cascade',
        );
      await cleaner.query(
        `update merchants set status = 'active', underpayment_tolerance_bps = bps
         from unnest($1::uuid[], $2::integer[]) as given (id, bps) where merchants.id = given.id`,
        [
          histories.flatMap((_, index) =>
            [index, GROUP + index].map(place => branches[place]?.merchantId),
          ),
          histories.flatMap(({ toleranceBps }) => [toleranceBps, toleranceBps]),
        ],
      );
      isUsed = true;
      const addresses = histories.flatMap(
        ({ seed, network, other, addresses: count, isShared, isWallet, hasTwoBranches }, index) =>
          [network, ...(other === null ? [] : [other])].flatMap(id =>
            Array.from({ length: count }, (_, place) => place).flatMap(place =>
              [
                index,
                ...(isShared ? [GROUP + index] : []),
                ...(hasTwoBranches ? [2 * GROUP + index] : []),
              ].map(holder => ({
                branch: branches[holder]?.branchId,
                network: id,
                place,
                address: addressOf(seed, place),
                wallet: isWallet ? branches[index]?.branchId : null,
              })),
            ),
          ),
      );
      await cleaner.query(
        `with given as (
           select * from unnest($1::uuid[], $2::text[], $3::text[], $4::integer[], $5::uuid[])
             as given (branch_id, network, address, place, wallet_id)
         ), noted as (
           insert into account_addresses (blockchain_id, address, merchant_id)
           select distinct network, address, merchant_id from given join branches on branches.id = branch_id
         ), held as (
           insert into address_holders (family, environment, address, merchant_id, held_since)
           select 'bitcoin', 'test', address, merchant_id, now()
           from given join branches on branches.id = branch_id where branch_id = wallet_id
         ), wallet as (
           insert into wallets (id, merchant_id, blockchain_id, kind, prefix, fingerprint, digest, key,
                                master_key_version, first_index, created_at)
           select branch_id, merchant_id, network, 'wpkh', 'bcrt', '', branch_id, '', 1, 0, now()
           from given join branches on branches.id = branch_id where branch_id = wallet_id and place = 0
         ), derived as (
           insert into wallet_addresses (wallet_id, index, blockchain_id, address)
           select branch_id, place, network, address from given where branch_id = wallet_id
         )
         insert into deposit_addresses (branch_id, blockchain_id, address, updated_at, wallet_id)
         select branch_id, network, address, now(), wallet_id
         from given where wallet_id is null or place = 0`,
        [
          addresses.map(({ branch }) => branch),
          addresses.map(({ network }) => network),
          addresses.map(({ address }) => address),
          addresses.map(({ place }) => place),
          addresses.map(({ wallet }) => wallet),
        ],
      );
    },
    watch,
    async close() {
      await Promise.all([db.destroy(), lane.close(), cleaner.end()]);
    },
  };

  async function watch(step: Step, when: 'before' | 'until'): Promise<void> {
    const chains = [...new Set(NETWORKS.map(network => CHAINS[network].chain))];
    const until = chains.map(chain => new Date(step.watched[chain][when]));
    await cleaner.query(
      `update chains set watched_until = given.until, expires_until = given.until, polled_at = given.until
         from unnest($1::text[], $2::timestamptz[]) as given (id, until) where chains.id = given.id`,
      [chains, until],
    );
  }
}

/** Bytes of a witness program's hash. */
const HASH_BYTES = 20;
/** Last bytes of the hashes, chosen so that the addresses sort by their text: p, q, z. */
const PLACES = [1, 0, 2];

/**
 * An address of a history: P2WPKH, for which the service knows the least amount. Networks that share a chain
 * share them.
 * @param prefix Of the chain.
 */
export function addressOf(seed: number, place: number, prefix = 'bcrt'): string {
  const hash = Buffer.alloc(HASH_BYTES);
  hash.writeUInt32BE(seed);
  hash.writeUInt8(PLACES[place] ?? place, HASH_BYTES - 1);
  return bech32.encode(prefix, [0, ...bech32.toWords(hash)]);
}

/** The seed of the history that has the address. */
export function seedOf(address: string): number {
  const [, ...words] = bech32.decode(address as `bcrt1${string}`).words;
  return Buffer.from(bech32.fromWords(words)).readUInt32BE();
}
