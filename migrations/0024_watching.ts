import { type Kysely, sql } from 'kysely';

/**
 * Chains, in the order of the documentation: ID, family, networks with their token contracts. A native
 * asset has no contract. Contracts of production assets and of Circle's test assets are constants, from
 * the issuers' own pages; test assets without an official contract get theirs from the operator.
 */
const CHAINS = [
  ['avax', 'evm', [['avax'], ['avax-usdt', '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7']]],
  ['bnb', 'evm', [['bnb'], ['bnb-usdt', '0x55d398326f99059fF775485246999027B3197955']]],
  ['btc', 'bitcoin', [['btc']]],
  [
    'eth',
    'evm',
    [
      ['eth'],
      ['eth-usdc', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
      ['eth-usdt', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    ],
  ],
  ['sol', 'solana', [['sol'], ['sol-usdc', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v']]],
  [
    'tron',
    'tron',
    [
      ['tron'],
      ['tron-usdc', 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8'],
      ['tron-usdt', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
    ],
  ],
  ['avax-test', 'evm', [['avax-test']]],
  ['bnb-test', 'evm', [['bnb-test']]],
  ['btc-test', 'bitcoin', [['btc-test']]],
  [
    'eth-test',
    'evm',
    [
      ['eth-test'],
      ['eth-usdc-test', '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238'],
      ['eth-usdt-test'],
    ],
  ],
  [
    'sol-dev',
    'solana',
    [['sol-dev'], ['sol-usdc-dev', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU']],
  ],
  ['tron-test', 'tron', [['tron-test'], ['tron-usdc-test'], ['tron-usdt-test']]],
] as const;

/**
 * What a watcher of a chain keeps: the nodes it asks, how far it has read, who holds the lease, and what
 * an operator has to look at. Deposits of the previous releases were all simulated.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table chains (
      id text primary key references networks (id),
      position smallint not null unique,
      family text not null check (family in ('bitcoin', 'evm', 'solana', 'tron')),
      identity text,
      cursor_height bigint,
      cursor_hash text,
      head_height bigint,
      final_height bigint,
      swept_height bigint,
      polled_at timestamptz(3),
      watched_until timestamptz(3),
      lease_holder text,
      lease_epoch bigint not null default 0,
      lease_until timestamptz(3),
      halted text,
      check (num_nonnulls(cursor_height, cursor_hash) in (0, 2))
    )`.execute(db);
  await sql`
    alter table networks
      add column chain text references chains (id),
      add column contract text,
      add column finality text,
      add column settled_by text not null default 'simulation'
        check (settled_by in ('simulation', 'chain', 'nobody'))`.execute(db);
  for (const [position, [chain, family, networks]] of CHAINS.entries()) {
    await sql`
      insert into chains (id, position, family) values (${chain}, ${position}, ${family})`.execute(
      db,
    );
    for (const [network, contract = null] of networks) {
      await sql`
        update networks set chain = ${chain}, contract = ${contract} where id = ${network}`.execute(
        db,
      );
    }
  }
  await sql`alter table networks alter column chain set not null`.execute(db);

  await sql`
    create table chain_blocks (
      chain text not null references chains (id),
      height bigint not null,
      hash text not null,
      at timestamptz(3) not null,
      primary key (chain, height)
    )`.execute(db);
  // `access` holds the URL and the headers, sealed: either may contain the provider's key.
  await sql`
    create table nodes (
      id uuid primary key,
      chain text not null references chains (id),
      role text not null check (role in ('primary', 'check')),
      position integer not null,
      label text not null,
      access bytea not null,
      master_key_version integer not null,
      requests_per_second integer not null check (requests_per_second between 1 and 10000),
      abilities jsonb not null,
      verified_at timestamptz(3) not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      unique (chain, label)
    )`.execute(db);
  await sql`
    create table findings (
      id uuid primary key,
      chain text not null references chains (id),
      kind text not null,
      blockchain_id text references networks (id),
      transaction_hash text,
      position integer,
      address text,
      amount numeric(78, 0),
      height bigint,
      detail text not null,
      found_at timestamptz(3) not null,
      resolved_at timestamptz(3)
    )`.execute(db);
  // Whatever is found again while it is open is the same finding.
  await sql`
    create unique index findings_open on findings
      (chain, kind, blockchain_id, transaction_hash, position, address, height) nulls not distinct
    where resolved_at is null`.execute(db);
  await sql`
    create table rescans (
      id bigint generated always as identity primary key,
      blockchain_id text not null references networks (id),
      from_height bigint not null,
      to_height bigint not null check (to_height >= from_height),
      next_height bigint not null,
      asked_by text not null,
      asked_at timestamptz(3) not null,
      done_at timestamptz(3)
    )`.execute(db);
  await sql`create index rescans_open on rescans (blockchain_id, id) where done_at is null`.execute(
    db,
  );
  // What each live address of a native EVM asset held at the blocks where it was looked at: an increase
  // that no transfer explains came by a contract. Older ones are kept for blocks that may be undone.
  await sql`
    create table native_balances (
      chain text not null references chains (id),
      address text not null,
      height bigint not null,
      balance numeric(78, 0) not null,
      primary key (chain, address, height)
    )`.execute(db);

  await sql`
    alter table deposits
      add column block_hash text,
      add column occurred_at timestamptz(3),
      add column earliest_at timestamptz(3),
      add column source text not null default 'simulation' check (source in ('chain', 'simulation')),
      add column inputs text[]`.execute(db);
  await sql`
    create index deposits_unsettled on deposits (blockchain_id, block_height)
    where state = 'seen' and source = 'chain'`.execute(db);
  await sql`
    create index deposits_settled on deposits (blockchain_id, block_height)
    where state = 'final' and source = 'chain'`.execute(db);
  await sql`
    create index reservations_released on reservations (blockchain_id, released_at)
    where released_at is not null`.execute(db);
}
