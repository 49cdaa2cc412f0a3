import type { Fate } from './world.ts';

/** What a transaction is to pay. */
export interface Paying {
  readonly network: string;
  /** The token's contract; null for the native asset. */
  readonly contract: string | null;
  readonly address: string;
  readonly amount: bigint;
  readonly fate: Fate;
  readonly sentAt: number;
  readonly spends: string;
  readonly payment: number | null;
  /** Payment that it names, and the account by which it does (Solana); null for none. */
  readonly names: number | null;
  readonly reference: string | null;
}
