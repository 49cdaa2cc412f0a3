import type { Node } from '#chains/nodes/node.ts';
import type { Random } from '../../settlement/truth/random.ts';
import type { MadeTransaction } from './generated-chain.ts';
import type { Slot } from './slots.ts';
import type { Act, World } from './world.ts';

/** What a node leaves out of its responses about one transaction, without an error. */
export type OmissionKind =
  /** EVM: its log, in searches for logs; in receipts; or in both. */
  | 'log'
  | 'log of receipt'
  | 'log everywhere'
  /** EVM: its receipt. */
  | 'receipt'
  /** EVM: the transaction itself, in its whole block. Solana: in every response. */
  | 'transaction'
  /** Solana: the signature, in lists of an account's signatures. */
  | 'signature'
  /** Bitcoin: the transaction, while it is unconfirmed. Blocks prove what is in them. */
  | 'unconfirmed';

export interface Omission {
  readonly role: Node['role'];
  readonly kind: OmissionKind;
  /** The act that makes the transaction. */
  readonly act: Act;
  /** The delay after it is first mined, or sent (Bitcoin), in milliseconds. */
  readonly afterMs: number;
  /** The duration from then on, in milliseconds; Infinity for ever. */
  readonly lastsMs: number;
}

const SECOND = 1_000;
const KINDS = {
  token: ['log', 'log', 'log', 'log everywhere', 'log of receipt', 'receipt'],
  native: ['transaction', 'transaction', 'receipt'],
  solana: ['signature', 'signature', 'transaction'],
  bitcoin: ['unconfirmed'],
} as const satisfies Record<string, readonly OmissionKind[]>;
/** What is shown at first is rarely left out later. */
const DELAYS = [...Array<number>(6).fill(0), 20 * SECOND, 90 * SECOND];
/**
 * The seconds by which a server lags; until after the end of the payment, which is an hour at most; and for ever.
 * Finite spans end some rounds before the last one.
 */
const SPANS = [
  ...[6, 12, 25, 60, 150].map(seconds => seconds * SECOND),
  ...[1_800, 4_500, 9_000].map(seconds => seconds * SECOND),
  ...Array<number>(6).fill(Number.POSITIVE_INFINITY),
];

/** What one of the nodes of a chain leaves out; null for most chains. */
export function drawOmission(
  random: Random,
  { slot, hasCheck, payments, acts }: Pick<World, 'slot' | 'hasCheck' | 'payments' | 'acts'>,
): Omission | null {
  if (!random.chance(60)) return null;
  const paid = acts.filter(act => act.kind === 'pay');
  const exact = paid.filter(({ amount, fate }) => amount === 'exact' && fate === 'plain');
  if (paid.length === 0) return null;
  const act = random.pick(exact.length === 0 || random.chance(15) ? paid : exact);
  const isNative = payments[act.payment]?.network === slot.chain;
  const isByCheck = hasCheck && slot.family !== 'bitcoin' && random.chance(25);
  return {
    role: isByCheck ? 'check' : 'primary',
    kind: random.pick(KINDS[kindsOf(slot, isNative)]),
    act,
    afterMs: random.pick(DELAYS),
    lastsMs: random.pick(SPANS),
  };
}

function kindsOf({ family }: Slot, isNative: boolean): keyof typeof KINDS {
  if (family !== 'evm') return family;
  return isNative ? 'native' : 'token';
}

/**
 * Whether the omission can be detected. If a receipt lacks a log, the positions of later logs change, which only the
 * receipts of the whole block show.
 */
export function mayLeaveOut({ kind }: Omission, { transfers }: MadeTransaction): boolean {
  const isOfReceipt = kind === 'log of receipt' || kind === 'log everywhere';
  return transfers.length > 0 && (!isOfReceipt || transfers.length === 1);
}

/** An omission, for humans. */
export function describeOmission({ role, kind, afterMs, lastsMs }: Omission): string {
  const span = lastsMs === Number.POSITIVE_INFINITY ? 'for ever' : `for ${lastsMs / SECOND} s`;
  return `the ${role} node leaves out: ${kind}, ${span} from ${afterMs / SECOND} s on`;
}
