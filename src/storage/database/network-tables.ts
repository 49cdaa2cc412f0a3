import type { Selectable } from 'kysely';
import type { Defaulted, OptionalBaseUnits } from './column-types.ts';

export type NetworkFamily = 'bitcoin' | 'ethereum' | 'bnb' | 'avalanche' | 'solana' | 'tron';
export type NetworkEnvironment = 'production' | 'test';

/**
 * What reports transfers on a network: `chain`, the verified nodes of its chain; `simulation`, the simulator,
 * where the chain has no node and the process simulates; `nobody`, where the chain's nodes cannot serve the
 * network.
 */
export type SettledBy = 'simulation' | 'chain' | 'nobody';

interface NetworksTable {
  id: string;
  position: number;
  name: string;
  family: NetworkFamily;
  environment: NetworkEnvironment;
  asset_symbol: string;
  asset_name: string;
  asset_decimals: number;
  window_minutes: number;
  is_active: boolean;
  /** When an operator last switched it on or off; null for one that is as it was shipped. */
  switched_at: Date | null;
  /** The chain that carries it. */
  chain: string;
  /** The token's contract; null for a native asset, and for a test token that has none configured. */
  contract: string | null;
  /** When its transfers are final; null for the chain's default rule. */
  finality: string | null;
  settled_by: Defaulted<SettledBy>;
  /** URL of a transaction's page, with `{hash}` in place of its hash; null for none. */
  explorer: string | null;
  /** Smallest amount that an operator lets payers be asked for, in the smallest unit; null for the chain's own. */
  least_amount: OptionalBaseUnits;
}

/** The networks that payments can be made on. */
export interface NetworkTables {
  networks: NetworksTable;
}

export type Network = Selectable<NetworksTable>;
