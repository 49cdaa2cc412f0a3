import { RpcError } from '#chains/nodes/node.ts';
import type { Branch, MadeTransaction } from './generated-chain.ts';
import type { OmissionKind } from './omission.ts';

/** What a node sees of a chain when it responds. */
export interface View {
  readonly branch: Branch;
  readonly finalHeight: number;
  /** The height up to which queries for log ranges find logs. */
  readonly logsUpTo: number;
  /** The most blocks of such a query. */
  readonly logRange: number;
  /** Whether it reports twice the amounts of tokens (EVM). */
  readonly isLying: boolean;
  /** Above this height a block may still be undone, whichever backend responds. */
  readonly settledHeight: number;
  /** Whether it can look up any transaction (Bitcoin). */
  readonly isIndexed: boolean;
  /** Whether it runs programs that are in no contract (EVM). */
  readonly runsPrograms: boolean;
  /** Whether it gives all receipts of a block (EVM). */
  readonly givesBlockReceipts: boolean;
  /** Whether responses of one of these kinds leave out the transaction. */
  leavesOut(transaction: MadeTransaction, kinds: readonly OmissionKind[]): boolean;
}

/** A node's own refusal. */
export class Refused extends RpcError {}
