import type { Generated, Selectable } from 'kysely';
import type { BaseUnits, Cents, Day, Defaulted, OptionalBaseUnits } from './column-types.ts';

export interface ReservationsTable {
  id: Generated<number>;
  payment_id: string;
  blockchain_id: string;
  address: string;
  token_amount: BaseUnits;
  reserved_at: Date;
  released_at: Date | null;
  /** The underpayment that this amount completes; null for the whole amount. */
  rest_of: Defaulted<string | null>;
  /** Smallest amount that settles it if a wallet has cut off decimals; null if only the whole amount does. */
  cut_from: OptionalBaseUnits;
  /** Smallest amount that settles it if no other payment waits at the address; null if only the whole amount does. */
  alone_from: OptionalBaseUnits;
}

export type DepositState = 'seen' | 'final' | 'reversed' | 'failed';

/** Who reported a deposit: a watcher or the simulator. */
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
  | 'superseded'
  | 'assigned';

/** What was done with the money of a deposit that no payment took. */
export type Remedy = 'returned' | 'kept' | 'other';

/** How a deposit deviates from what its payment, or the payment it was meant for, asked for. */
export type Deviation = 'under' | 'over' | 'late' | 'duplicate';

/** Why a deposit did not settle the payment it was meant for: too late, a second time, or for a former quote. */
export type StrayKind = 'late' | 'duplicate' | 'superseded';

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
  /**
   * Outputs that its unconfirmed ancestors spent when it was seen in a mempool (Bitcoin), as `hash:index`: any other
   * transaction in a block that spends one of them undoes the deposit. null elsewhere.
   */
  ancestry: Defaulted<string[] | null>;
  /** Since when it is neither in a mempool nor in a block (Bitcoin); null while it is. */
  missing_since: Defaulted<Date | null>;
  /** Reference accounts, by which a wallet may have named the payment (Solana Pay); null for none. */
  reference_accounts: Defaulted<string[] | null>;
  /** Whether its price is recorded once it is final for a payment; false for one of an earlier release. */
  price_wanted: Defaulted<boolean>;
  /**
   * US dollars for one whole unit, scaled by 1e18, soon after it arrived or became final for a payment; null while
   * it is not known.
   */
  usd_price: Defaulted<string | null>;
  /** When that was the price. */
  priced_at: Defaulted<Date | null>;
  /** What it was worth at that price, in US cents, rounded down. */
  value_cents: Defaulted<Cents | null>;
  /** null for a deposit that is not dismissed, and for one that an earlier release dismissed. */
  remedy: Defaulted<Remedy | null>;
  /** To whom it was returned; null for any other remedy. */
  remedy_to: Defaulted<string | null>;
  /** Hash of the transaction that returned it; null for any other remedy. */
  remedy_hash: Defaulted<string | null>;
  remedy_note: Defaulted<string | null>;
}

/** An assignment of an underpayment that one admin of a merchant asks another to confirm. */
export interface AskedAssignmentsTable {
  deposit_id: string;
  payment_id: string;
  /** Who asks. */
  person_id: string;
  asked_at: Date;
}

/** Kept by a trigger; see the migration. */
export interface DeviatingDepositsTable {
  deposit_id: string;
  payment_id: string;
  /** `left`: it belonged to the payment until the chain undid it, or until the payment ended before it was final. */
  kind: Deviation | StrayKind | 'left';
  /** The payment's merchant and creation. */
  merchant_id: string;
  created_at: Date;
}

/** A final deposit that settled no payment, in a merchant's books. Kept by triggers; see the migration. */
interface BookedDepositsTable {
  deposit_id: string;
  merchant_id: string;
  booked_at: Date;
}

/** A partial deposit of an ended payment that was returned, in its merchant's books. A row never changes. */
export interface BookedReturnsTable {
  deposit_id: string;
  merchant_id: string;
  /** When the return was recorded; later than the deposit was booked. */
  booked_at: Date;
  returned_to: string;
  /** Hash of the transaction that returned it. */
  transaction_hash: string;
  note: string | null;
}

/** A node's responses about a transaction when its deposits became final. */
interface TransactionAnswersTable {
  blockchain_id: string;
  transaction_hash: string;
  /** Label of the node. */
  node: string;
  /** JSON list of methods and results. */
  answers: string;
  recorded_at: Date;
}

/** Transfers to an address that are too small to count, of one day. */
interface DustTable {
  blockchain_id: string;
  address: string;
  /** UTC day on which they were counted. */
  day: Day;
  /** How many there were. */
  transfers: number;
  /** What they amount to together. */
  token_amount: BaseUnits;
  first_hash: string;
  last_hash: string;
}

/** Amounts that payments wait for, and transfers that arrived. */
export interface DepositTables {
  reservations: ReservationsTable;
  deposits: DepositsTable;
  asked_assignments: AskedAssignmentsTable;
  deviating_deposits: DeviatingDepositsTable;
  booked_deposits: BookedDepositsTable;
  booked_returns: BookedReturnsTable;
  dust: DustTable;
  transaction_answers: TransactionAnswersTable;
}

export type Deposit = Selectable<DepositsTable>;
export type BookedDeposit = Selectable<BookedDepositsTable>;
export type BookedReturn = Selectable<BookedReturnsTable>;
export type TransactionResponses = Selectable<TransactionAnswersTable>;
