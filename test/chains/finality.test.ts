import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHAIN_IDS, chainOf } from '#chains/chain-list.ts';
import { isSettled, parseFinality, requiredBlocks } from '#chains/finality.ts';

const blocksNeeded = (rule: string, cents: number | null) =>
  requiredBlocks(parseFinality(rule), cents);

describe('a rule of finality', () => {
  test.each([
    ['1', null, 1],
    ['1', 5_000_000, 1],
    ['final', 1, 'final'],
    ['12@100000,final', 99_999, 12],
    ['12@100000,final', 100_000, 'final'],
    ['12@100000,final', null, 'final'],
    ['1@100000,2@1000000,6', 0, 1],
    ['1@100000,2@1000000,6', 100_000, 2],
    ['1@100000,2@1000000,6', 999_999, 2],
    ['1@100000,2@1000000,6', 1_000_000, 6],
    ['1@100000,2@1000000,6', null, 6],
    ['final@100,10000', 99, 'final'],
  ] as const)('%s of a payment of %s cents: %s', (rule, cents, expected) => {
    expect(blocksNeeded(rule, cents)).toBe(expected);
  });

  test.each([
    '',
    '0',
    '-1',
    '1.5',
    '01',
    '10001',
    'Final',
    ' 6',
    '6,',
    ',6',
    '1@100',
    '1@100,',
    '1@0,6',
    '1@-5,6',
    '1@1e3,6',
    '1@100@200,6',
    '0@100,6',
    '1@100,2@100,6',
    '1@200,2@100,6',
    '1@1000000000000000,6',
    '6,1@100',
    '1;6',
  ])('is not %j', rule => {
    expect(() => parseFinality(rule)).toThrow(RangeError);
  });

  test('exists for every chain', () => {
    for (const id of CHAIN_IDS) expect(() => parseFinality(chainOf(id).finality)).not.toThrow();
  });

  test.each([
    ['2@100,final', 50, 1, false, false],
    ['2@100,final', 50, 2, false, true],
    ['2@100,final', 100, 10_000, false, false],
    ['2@100,final', 100, 0, true, true],
    ['6', null, 5, false, false],
    ['6', null, 6, false, true],
    ['6', 1, 1, true, true],
  ] as const)('%s, %s cents, %i deep, final %s: %s', (rule, cents, depth, isFinal, settled) => {
    expect(isSettled(parseFinality(rule), { cents, depth, isFinal })).toBe(settled);
  });

  const blocks = fc.oneof(fc.constant('final' as const), fc.integer({ min: 1, max: 10_000 }));
  const rules = fc
    .record({
      limits: fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { maxLength: 5 }),
      depths: fc.array(blocks, { minLength: 6, maxLength: 6 }),
    })
    .map(({ limits, depths }) => {
      const rising = limits.toSorted((one, other) => one - other);
      return {
        steps: rising.map((belowCents, index) => ({ belowCents, blocks: depths[index] ?? 1 })),
        last: depths[5] ?? 1,
      };
    });
  const textOf = ({
    steps,
    last,
  }: {
    steps: { blocks: unknown; belowCents: number }[];
    last: unknown;
  }) => [...steps.map(({ blocks, belowCents }) => `${blocks}@${belowCents}`), last].join(',');

  test('uses the first step above the value', () => {
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 1_100_000 }), (rule, cents) => {
        const step = rule.steps.find(({ belowCents }) => cents < belowCents);
        expect(blocksNeeded(textOf(rule), cents)).toBe(step?.blocks ?? rule.last);
        expect(blocksNeeded(textOf(rule), null)).toBe(rule.last);
      }),
    );
  });

  test('is never satisfied without a block, and once satisfied by every deeper one', () => {
    const depths = fc.integer({ min: 0, max: 20_000 });
    const cents = fc.option(fc.integer({ min: 0, max: 1_100_000 }));
    fc.assert(
      fc.property(rules, cents, depths, depths, (rule, value, one, other) => {
        const parsed = parseFinality(textOf(rule));
        const at = (depth: number, isFinal = false) =>
          isSettled(parsed, { cents: value, depth, isFinal });
        expect(at(0)).toBe(false);
        expect(at(one, true)).toBe(true);
        if (at(Math.min(one, other))) expect(at(Math.max(one, other))).toBe(true);
      }),
    );
  });
});
