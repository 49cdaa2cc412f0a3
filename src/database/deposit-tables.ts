import type { Generated, Selectable } from 'kysely';
import type { BaseUnits, Defaulted } from './column-types.ts';

export interface ReservationsTable {
  id: Generated<number>;
  payment_id: string;
  blockchain_id: string;
  address: string;
  token_amount: BaseUnits;
  reserved_at: Date;
  released_at: Date | null;
  /** The deposit of too little that this amount completes; null for the whole amount. */
  rest_of: Defaulted<string | null>;
}

export type DepositState = 'seen' | 'final' | 'reversed' | 'failed';

/** Who told of a deposit: a watcher or the simulator. */
export type DepositSource = 'chain' | 'simulation';

export type DepositOutcome =
  | 'exact'
  | 'over'
  | 'tolerated'
  | 'under'
  | 'rest'
  | 'late'
  | 'duplicate'
  | 'ambiguous'
  | 'unknown'
  | 'assigned';

export interface DepositsTable {
  id: string;
  blockchain_id: string;
  transaction_hash: string;
  /** Log index, output or instruction within the transaction. */
  position: number;
  address: string;
  token_amount: BaseUnits;
  block_height: number | null;
  state: DepositState;
  outcome: DepositOutcome;
  payment_id: string | null;
  dismissed_at: Date | null;
  observed_at: Date;
  updated_at: Date;
  /** null in a mempool, and for a simulated transfer. */
  block_hash: string | null;
  /** When it happened, as far as matching is concerned; null in rows of older releases. */
  occurred_at: Date | null;
  /** When it happened at the earliest; null in rows of older releases. */
  earliest_at: Date | null;
  source: Defaulted<DepositSource>;
  /** Outputs that the transaction spends, as `hash:index` (Bitcoin); null elsewhere. */
  inputs: string[] | null;
}

/** What a node answered about a transaction when its deposits became final. */
export interface TransactionAnswersTable {
  blockchain_id: string;
  transaction_hash: string;
  /** Label of the node. */
  node: string;
  /** JSON list of methods and results. */
  answers: string;
  recorded_at: Date;
}

/** Amounts that payments wait for, and transfers that arrived. */
export interface DepositTables {
  reservations: ReservationsTable;
  deposits: DepositsTable;
  transaction_answers: TransactionAnswersTable;
}

export type Deposit = Selectable<DepositsTable>;
export type TransactionAnswers = Selectable<TransactionAnswersTable>;
