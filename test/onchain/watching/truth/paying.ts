import type { MadeTransaction } from './generated-chain.ts';
import type { Fate } from './world.ts';

/** Funds that leave an address with a transaction. */
export interface Moving {
  readonly network: string;
  /** The token's contract; null for the native asset. */
  readonly contract: string | null;
  readonly address: string;
  readonly amount: bigint;
  readonly sentAt: number;
  readonly spends: string;
}

/** What a transaction is to pay. */
export interface Paying extends Moving {
  readonly fate: Fate;
  readonly payment: number | null;
  /** See `MadeTransaction`. */
  readonly parent?: MadeTransaction | undefined;
  /** The payment that it names, and the account with which it does so (Solana); null for none. */
  readonly names: number | null;
  readonly reference: string | null;
}
