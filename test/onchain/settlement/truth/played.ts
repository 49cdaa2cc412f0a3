import type { NetworkId } from './course.ts';
import type { History, Transfer } from './history.ts';
import type { Ledger } from './ledger.ts';
import type { Quote } from './quote-rules.ts';

/** A step of a history as it was taken, which the ledger repeats. */
export interface Taken {
  /** For readers. */
  readonly text: string;
  /** @param complain Told of an answer that the rules do not allow. */
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
  /** The merchants whose payments these are: the second one where the addresses are shared alone. */
  readonly merchants: readonly [Payee, Payee];
  readonly payments: (Asked | undefined)[];
  /** What each asks for, as its customer was last told. */
  readonly quotes: Map<string, Exclude<Quote, string>>;
  readonly sent: (Sent | undefined)[];
  /** What happened, one after the other; where the order is not known, every order that is possible. */
  readonly taken: (readonly (readonly Taken[])[])[];
  /** What was thrown, where nothing should be. */
  readonly errors: string[];
}

/** Whose a payment is, by its place. */
export function payeeOf({ history, merchants }: Played, payment: number): Payee {
  return merchants[history.isShared && payment % 2 === 1 ? 1 : 0];
}

/** All orders of a few things. */
export function permutations<T>(list: readonly T[]): T[][] {
  if (list.length <= 1) return [[...list]];
  return list.flatMap((first, index) =>
    permutations(list.toSpliced(index, 1)).map(rest => [first, ...rest]),
  );
}
