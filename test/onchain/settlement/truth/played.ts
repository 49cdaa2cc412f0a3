import type { NetworkId } from './course.ts';
import type { History, Transfer } from './history.ts';
import type { Ledger } from './ledger.ts';
import type { Quote } from './quote-rules.ts';

/** An act of a history, which the ledger repeats. */
export interface Taken {
  /** For humans. */
  readonly text: string;
  /** @param complain Called for a result that the rules do not allow. */
  readonly repeat: (ledger: Ledger, complain: (what: string) => void) => void;
}

/** A transfer as it was sent. */
export interface Sent extends Transfer {
  readonly network: NetworkId;
  readonly address: string;
  readonly tokenAmount: bigint;
}

/** A payment as it was asked for. */
export interface Asked {
  readonly id: string;
  readonly createdAt: number;
}

/** Whom payments are for. */
export interface Payee {
  readonly merchantId: string;
  readonly branchId: string;
}

/** What a history did to the service, in order. */
export interface Played {
  readonly history: History;
  /** Whose the payments are: the second one's, another merchant or branch, only where the addresses are shared. */
  readonly merchants: readonly [Payee, Payee];
  readonly payments: (Asked | undefined)[];
  /** What each payment asks for, as its customer was last told. */
  readonly quotes: Map<string, Exclude<Quote, string>>;
  readonly sent: (Sent | undefined)[];
  /** What happened, in order; where the order is unknown, every possible order. */
  readonly taken: (readonly (readonly Taken[])[])[];
  /** Errors that should not have been thrown. */
  readonly errors: string[];
}

/** The merchant and branch of a payment, by its index. */
export function payeeOf({ history, merchants }: Played, payment: number): Payee {
  const isShared = history.isShared || history.hasTwoBranches;
  return merchants[isShared && payment % 2 === 1 ? 1 : 0];
}

/** All orders of a few things. */
export function permutations<T>(list: readonly T[]): T[][] {
  if (list.length <= 1) return [[...list]];
  return list.flatMap((first, index) =>
    permutations(list.toSpliced(index, 1)).map(rest => [first, ...rest]),
  );
}
