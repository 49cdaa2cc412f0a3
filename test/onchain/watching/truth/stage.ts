import { sql } from 'kysely';
import pg from 'pg';
import type { Database } from '#storage/database/connection.ts';
import { sessionConfig } from '#storage/database/session.ts';
import { openPool } from '../../settlement/truth/lane.ts';
import { SLOTS } from './slots.ts';
import type { World } from './world.ts';

/** Concurrent transactions: a group's chains take turns, and some have two workers. */
const POOL_SIZE = 10;

/** Tables with what is played or found; the tables that refer to them are emptied as well. */
const PLAYED = [
  ...['payments', 'payment_transitions', 'reservations', 'deposits', 'events', 'audit_log'],
  ...['wallets', 'address_holders'],
  ...[
    'deposit_addresses',
    'findings',
    'dust',
    'held_balances',
    'chain_blocks',
    'transaction_answers',
  ],
];

/** A network as the service has configured it. */
interface StageNetwork {
  readonly contract: string | null;
  /** How long a payment on it waits, in milliseconds. */
  readonly windowMs: number;
  readonly symbol: string;
  readonly decimals: number;
}

/** The branches of a merchant. */
interface StageBranches {
  readonly merchantId: string;
  readonly branchId: string;
  /** A second branch, which has payments only where it shares a wallet with the first. */
  readonly otherId: string;
}

/** A database in which one group of generated chains at a time is played. */
export interface ChainStage {
  readonly db: Database;
  /** By slot. */
  readonly branches: readonly StageBranches[];
  readonly networks: ReadonlyMap<string, StageNetwork>;
  /**
   * Removes what was played before, and sets up a branch and a new chain for each world.
   * @param identities What the nodes of the worlds return as their identity, in the order of the worlds.
   */
  prepare(worlds: readonly World[], identities: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** @param url Of a migrated database that nothing else uses; playing a second group requires a superuser. */
export async function openChainStage(url: string): Promise<ChainStage> {
  const db = openPool(url, POOL_SIZE);
  // Deletes from tables that no role may delete from, and changes accounts without notifying anybody.
  const cleaner = new pg.Client(sessionConfig({ url, applicationName: 'truth-cleaner' }));
  await cleaner.connect();
  const used = SLOTS.flatMap(({ networks }) => networks);
  await cleaner.query(
    "update networks set is_active = true, settled_by = 'chain' where id = any($1::text[])",
    [used],
  );
  const { rows: branches } = await cleaner.query<StageBranches>(
    `with merchant as (
       insert into merchants (id, name, email, account_kind, onboarding_status, settlement_model,
                              commission_payer, commission_bps, created_at)
       select gen_random_uuid(), 'Shop', 'shop@example.com', 'standard', 'approved', 'direct',
              'merchant', 0, now()
       from generate_series(1, ${SLOTS.length}) returning id
     ), other as (
       insert into branches (id, merchant_id, name, is_main, created_at)
       select gen_random_uuid(), id, 'Other', false, now() from merchant returning merchant_id, id)
     insert into branches (id, merchant_id, name, is_main, created_at)
     select gen_random_uuid(), id, 'Main', true, now() from merchant
     returning merchant_id as "merchantId", id as "branchId", (
       select id from other where other.merchant_id = branches.merchant_id) as "otherId"`,
  );
  const networks = await db
    .selectFrom('networks')
    .select(['id', 'contract', 'window_minutes', 'asset_symbol', 'asset_decimals'])
    .where('id', '=', sql<string>`any(${used}::text[])`)
    .execute();
  let isUsed = false;
  return {
    db,
    branches,
    networks: new Map(
      networks.map(each => [
        each.id,
        {
          contract: each.contract,
          windowMs: each.window_minutes * 60_000,
          symbol: each.asset_symbol,
          decimals: each.asset_decimals,
        },
      ]),
    ),
    async prepare(worlds, identities) {
      // Disables triggers: the merchants of several chains have the same addresses.
      await cleaner.query('set session_replication_role = replica');
      if (isUsed) await cleaner.query(`truncate ${PLAYED.join(', ')} cascade`);
      isUsed = true;
      await cleaner.query(
        `update chains set identity = given.identity, cursor_height = null, cursor_hash = null,
           head_height = null, final_height = null, swept_height = null, polled_at = null,
           watched_until = null, expires_until = null, lease_until = null, halted = null
         from unnest($1::text[], $2::text[]) as given (id, identity) where chains.id = given.id`,
        [worlds.map(({ slot }) => slot.chain), identities],
      );
      await cleaner.query(
        `update networks set finality = given.rule
         from unnest($1::text[], $2::text[]) as given (chain, rule) where networks.chain = given.chain`,
        [worlds.map(({ slot }) => slot.chain), worlds.map(({ rule }) => rule)],
      );
      const places = worlds.flatMap(({ slot, addresses, wallet }) => {
        if (wallet !== null) return [];
        const branch = branches[SLOTS.indexOf(slot)]?.branchId;
        return slot.networks.flatMap(network =>
          addresses.map(address => ({ branch, network, address })),
        );
      });
      await cleaner.query(
        `insert into deposit_addresses (branch_id, blockchain_id, address, updated_at)
         select *, now() from unnest($1::uuid[], $2::text[], $3::text[])`,
        [
          places.map(({ branch }) => branch),
          places.map(({ network }) => network),
          places.map(({ address }) => address),
        ],
      );
      await addWallets(worlds);
      await cleaner.query(
        `update merchants set underpayment_tolerance_bps = bps
         from unnest($1::uuid[], $2::integer[]) as given (id, bps) where merchants.id = given.id`,
        [
          worlds.map(({ slot }) => branches[SLOTS.indexOf(slot)]?.merchantId),
          worlds.map(({ toleranceBps }) => toleranceBps),
        ],
      );
    },
    async close() {
      await Promise.all([db.destroy(), cleaner.end()]);
    },
  };

  async function addWallets(worlds: readonly World[]): Promise<void> {
    for (const { slot, wallet } of worlds) {
      const { branchId, otherId } = branches[SLOTS.indexOf(slot)] ?? {};
      if (wallet === null) continue;
      await cleaner.query(
        `with wallet as (
           insert into wallets (id, merchant_id, blockchain_id, kind, prefix, fingerprint, digest, key,
                                master_key_version, first_index, created_at)
           select id, merchant_id, $2::text, 'wpkh', split_part(($3::text[])[1], '1', 1), '', id, '', 1, 0, now()
           from branches where id = $1::uuid returning id, merchant_id
         ), derived as (
           insert into wallet_addresses (wallet_id, index, blockchain_id, address)
           select id, place - 1, $2::text, address
           from wallet, unnest($3::text[]) with ordinality as given (address, place)
         ), held as (
           insert into address_holders (family, environment, address, merchant_id, held_since)
           select chains.family, networks.environment, address, merchant_id, now()
           from wallet, unnest($3::text[]) as address, networks join chains on chains.id = networks.chain
           where networks.id = $2::text
         )
         insert into deposit_addresses (branch_id, blockchain_id, address, updated_at, wallet_id)
         select branch, $2::text, ($3::text[])[1], now(), $1::uuid from unnest($4::uuid[]) as branch`,
        [
          branchId,
          slot.networks[0],
          wallet.addresses,
          wallet.isShared ? [branchId, otherId] : [branchId],
        ],
      );
    }
  }
}
