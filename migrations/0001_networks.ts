import { type Kysely, sql } from 'kysely';

const PRODUCTION = 'production';
const TEST = 'test';

/**
 * id, network, family, environment, asset symbol, asset name, decimals, window in minutes, active.
 *
 * Windows follow the time a payer needs plus the chain's usual confirmation: an hour where blocks
 * take ten minutes, half an hour on Ethereum, a quarter of an hour where blocks take seconds.
 * tron-usdc starts inactive because Circle ended minting on Tron in February 2024.
 */
const NETWORKS = [
  ['avax', 'Avalanche C-Chain', 'avalanche', PRODUCTION, 'AVAX', 'Avalanche', 18, 15, true],
  ['avax-usdt', 'Avalanche C-Chain', 'avalanche', PRODUCTION, 'USDT', 'Tether USD', 6, 15, true],
  ['bnb', 'BNB Smart Chain', 'bnb', PRODUCTION, 'BNB', 'BNB', 18, 15, true],
  ['bnb-usdt', 'BNB Smart Chain', 'bnb', PRODUCTION, 'USDT', 'Tether USD', 18, 15, true],
  ['btc', 'Bitcoin Mainnet', 'bitcoin', PRODUCTION, 'BTC', 'Bitcoin', 8, 60, true],
  ['eth', 'Ethereum Mainnet', 'ethereum', PRODUCTION, 'ETH', 'Ether', 18, 30, true],
  ['eth-usdc', 'Ethereum Mainnet', 'ethereum', PRODUCTION, 'USDC', 'USD Coin', 6, 30, true],
  ['eth-usdt', 'Ethereum Mainnet', 'ethereum', PRODUCTION, 'USDT', 'Tether USD', 6, 30, true],
  ['sol', 'Solana Mainnet', 'solana', PRODUCTION, 'SOL', 'Solana', 9, 15, true],
  ['sol-usdc', 'Solana Mainnet', 'solana', PRODUCTION, 'USDC', 'USD Coin', 6, 15, true],
  ['tron', 'Tron Mainnet', 'tron', PRODUCTION, 'TRX', 'TRON', 6, 15, true],
  ['tron-usdc', 'Tron Mainnet', 'tron', PRODUCTION, 'USDC', 'USD Coin', 6, 15, false],
  ['tron-usdt', 'Tron Mainnet', 'tron', PRODUCTION, 'USDT', 'Tether USD', 6, 15, true],
  ['avax-test', 'Avalanche Fuji', 'avalanche', TEST, 'AVAX', 'Avalanche', 18, 15, true],
  ['bnb-test', 'BNB Smart Chain Testnet', 'bnb', TEST, 'BNB', 'BNB', 18, 15, true],
  ['btc-test', 'Bitcoin Testnet', 'bitcoin', TEST, 'tBTC', 'Testnet Bitcoin', 8, 60, true],
  ['eth-test', 'Ethereum Sepolia', 'ethereum', TEST, 'ETH', 'Ether', 18, 30, true],
  ['eth-usdc-test', 'Ethereum Sepolia', 'ethereum', TEST, 'USDC', 'USD Coin', 6, 30, true],
  ['eth-usdt-test', 'Ethereum Sepolia', 'ethereum', TEST, 'USDT', 'Tether USD', 6, 30, true],
  ['sol-dev', 'Solana Devnet', 'solana', TEST, 'SOL', 'Solana', 9, 15, true],
  ['sol-usdc-dev', 'Solana Devnet', 'solana', TEST, 'USDC', 'USD Coin', 6, 15, true],
  ['tron-test', 'Tron Shasta', 'tron', TEST, 'TRX', 'TRON', 6, 15, true],
  ['tron-usdc-test', 'Tron Shasta', 'tron', TEST, 'USDC', 'USD Coin', 6, 15, true],
  ['tron-usdt-test', 'Tron Shasta', 'tron', TEST, 'USDT', 'Tether USD', 6, 15, true],
] as const;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table networks (
      id text primary key,
      position smallint not null unique,
      name text not null,
      family text not null
        check (family in ('bitcoin', 'ethereum', 'bnb', 'avalanche', 'solana', 'tron')),
      environment text not null check (environment in ('production', 'test')),
      asset_symbol text not null,
      asset_name text not null,
      asset_decimals smallint not null check (asset_decimals between 0 and 18),
      window_minutes integer not null check (window_minutes between 1 and 1440),
      is_active boolean not null
    )`.execute(db);
  for (const [position, row] of NETWORKS.entries()) {
    const [id, name, family, environment, symbol, assetName, decimals, minutes, active] = row;
    await sql`
      insert into networks (id, position, name, family, environment, asset_symbol, asset_name,
                            asset_decimals, window_minutes, is_active)
      values (${id}, ${position}, ${name}, ${family}, ${environment}, ${symbol}, ${assetName},
              ${decimals}, ${minutes}, ${active})`.execute(db);
  }
}
