import { RpcError } from '#chains/nodes/node.ts';
import type { Branch, MadeTransaction } from './generated-chain.ts';
import type { OmissionKind } from './omission.ts';

/** What a node sees of a chain when it answers. */
export interface View {
  readonly branch: Branch;
  readonly finalHeight: number;
  /** Up to which height queries for ranges of logs find any. */
  readonly logsUpTo: number;
  /** Most blocks of such a query. */
  readonly logRange: number;
  /** Whether it tells twice the amounts of tokens (EVM). */
  readonly isLying: boolean;
  /** Most blocks that are undone at once. */
  readonly undone: number;
  /** Whether it finds each transaction (Bitcoin). */
  readonly isIndexed: boolean;
  /** Whether it runs programs that are in no contract (EVM). */
  readonly runsPrograms: boolean;
  /** Whether it gives all receipts of a block (EVM). */
  readonly givesBlockReceipts: boolean;
  /** Whether an answer that has something of a transaction leaves it out, which is one of these kinds. */
  leavesOut(transaction: MadeTransaction, kinds: readonly OmissionKind[]): boolean;
}

/** A node's own refusal. */
export class Refused extends RpcError {}
