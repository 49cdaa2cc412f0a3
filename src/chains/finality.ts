/** When a transfer is final: the first step whose limit is above the payment's value, or the last. */
interface FinalityRule {
  /** In rising order of `belowCents`; the last has no limit. */
  readonly steps: readonly FinalityStep[];
}

interface FinalityStep {
  /** The step applies to payments below this value, in cents; null for any. */
  readonly belowCents: number | null;
  /** Blocks, the transfer's own included; `final` is the chain's own finality. */
  readonly blocks: number | 'final';
}

/** No chain needs more blocks: a greater number is a mistake in the rule. */
const BLOCKS_MAXIMUM = 10_000;

/**
 * Parses a rule, `N@CENTS,…,LAST`: N blocks below so many cents, then the last step without a limit. N
 * and LAST are 1 to 10,000 blocks or `final`.
 * @throws RangeError with what is wrong.
 */
export function parseFinality(text: string): FinalityRule {
  const parts = text.split(',');
  const last = parts.pop() ?? '';
  const steps = parts.map(part => {
    const [blocks = '', cents, ...rest] = part.split('@');
    if (cents === undefined || rest.length > 0 || !/^[1-9]\d{0,14}$/.test(cents)) {
      throw new RangeError(`${JSON.stringify(part)} is no step: write blocks@cents`);
    }
    return { blocks: parseBlocks(blocks), belowCents: Number(cents) };
  });
  for (const [index, { belowCents }] of steps.entries()) {
    const previous = steps[index - 1];
    if (previous !== undefined && previous.belowCents >= belowCents) {
      throw new RangeError('the limits in cents must rise from step to step');
    }
  }
  return { steps: [...steps, { blocks: parseBlocks(last), belowCents: null }] };
}

function parseBlocks(text: string): number | 'final' {
  if (text === 'final') return text;
  if (!/^[1-9]\d*$/.test(text) || Number(text) > BLOCKS_MAXIMUM) {
    throw new RangeError(`${JSON.stringify(text)} is neither "final" nor 1 to 10,000 blocks`);
  }
  return Number(text);
}

/**
 * The blocks that a payment of this value needs.
 * @param cents null for a transfer without a payment, which takes the last step.
 */
export function requiredBlocks({ steps }: FinalityRule, cents: number | null): number | 'final' {
  const step = steps.find(
    ({ belowCents }) => belowCents === null || (cents !== null && cents < belowCents),
  );
  return step?.blocks ?? 'final';
}

export interface Depth {
  /** What the payment asks for, in cents; null without a payment. */
  readonly cents: number | null;
  /** Blocks from the transfer's own to the newest, both included. */
  readonly depth: number;
  /** Whether its block is final by the chain's own rules, which always suffices. */
  readonly isFinal: boolean;
}

/** Whether a transfer at this depth is final. */
export function isSettled(rule: FinalityRule, { cents, depth, isFinal }: Depth): boolean {
  if (isFinal) return true;
  const blocks = requiredBlocks(rule, cents);
  return blocks !== 'final' && depth >= blocks;
}
